"""Ground floor: what a step is, and whether it is right."""
