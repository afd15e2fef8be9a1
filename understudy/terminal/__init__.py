"""What commands share: options, consoles, progress. It knows no game, and games build on it."""
