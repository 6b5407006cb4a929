"""Formats of the prm floor."""
