"""Top floor: improve a policy against the estimate, and measure how it is fooled."""
