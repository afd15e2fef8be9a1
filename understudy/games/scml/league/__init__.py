"""Leagues of the supply chain: members meet in the same factories of the same worlds."""
