"""Which runs there are, how each stands, and its curves as they are written."""
