"""What a campaign tries: one module for each sort of attack, `kinds` for all of them by name."""
