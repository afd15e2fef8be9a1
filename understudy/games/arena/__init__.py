"""The arena game."""
