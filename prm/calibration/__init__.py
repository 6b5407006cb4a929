"""Calibration of the prm floor."""
