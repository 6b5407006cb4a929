"""Benchmarks of the prm floor."""
