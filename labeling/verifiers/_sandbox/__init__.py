"""The engines behind `labeling.verifiers.sandbox`: Python run where it can do no harm."""
