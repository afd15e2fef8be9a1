"""Files that can be trusted: seals, declared shapes, one writer at a time."""
