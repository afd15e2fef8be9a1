"""Modules that stand in for ours in an exported agent, where only scml and numpy are installed.

Each has the names of the one it stands in for, as far as the agent uses them, and computes the same
to the last bit (`tests/export/test_standalone.py`).
"""
