"""Measurements against peers and on real data; each module prints one table."""
