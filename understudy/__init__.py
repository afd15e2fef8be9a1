"""Recorded matches of competitive games, turned into agents that win."""
