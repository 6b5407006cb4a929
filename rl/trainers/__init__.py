"""Trainers of the rl floor."""
