"""What the families share."""

CYCLES_MS = (10, 20, 50, 100, 200)
"""Usual lengths of a controller's cycle."""
