"""Metrics of the prm floor."""
