"""Rollouts of the labeling floor."""
