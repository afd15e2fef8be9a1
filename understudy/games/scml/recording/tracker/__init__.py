"""Tracker logs, as HRL-XF's first authors recorded them: JSON files to our recordings."""
