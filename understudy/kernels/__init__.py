"""Compiled passes over arrays. They know of no game and of no network."""
