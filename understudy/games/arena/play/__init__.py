"""Who plays, and playing matches to their end, one by one or side by side."""
