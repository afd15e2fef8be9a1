"""What a match may come to: a world model at minute resolution, and plans rolled forward in it."""
