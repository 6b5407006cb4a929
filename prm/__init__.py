"""Middle floor: an estimate of whether a step is right."""
