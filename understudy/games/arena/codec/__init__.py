"""What a network reads and writes: features of a view, actions as options."""
