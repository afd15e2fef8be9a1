"""Recordings and samples of the arena, and importers of other logs."""
