"""The game itself: rules, the compiled world, its random numbers, pictures."""
