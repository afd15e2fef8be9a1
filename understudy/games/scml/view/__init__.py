"""What a factory knows, live or from a recording, and what a network reads of it."""
