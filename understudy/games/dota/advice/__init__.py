"""What to do next: candidates, scored by the value model."""
