"""Decisions for a running game."""
