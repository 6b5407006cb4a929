"""Verifiers of the labeling floor."""
