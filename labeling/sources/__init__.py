"""Sources of the labeling floor."""
