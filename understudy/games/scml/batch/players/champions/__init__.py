"""Champions of the league as part of the compiled world."""
