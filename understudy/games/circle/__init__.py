"""Styles in a circle, each of which beats the next, beside skill: the share of either is set."""
