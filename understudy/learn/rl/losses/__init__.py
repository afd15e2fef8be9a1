"""What learning by play minimises, a file per loss."""
