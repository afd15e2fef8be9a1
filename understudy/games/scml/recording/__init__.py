"""What is written down of a world, and what follows from it."""
