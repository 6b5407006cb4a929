"""Simulators of the labeling floor."""
