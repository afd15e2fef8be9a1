"""Runs that lie elsewhere: gathered into one here, or worked on in a copy."""
