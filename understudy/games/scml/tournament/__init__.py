"""Who meets whom in which worlds, and playing them."""
