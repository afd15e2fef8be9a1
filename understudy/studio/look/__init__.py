"""Pages made on demand, by a process of their own, and kept: replays, worlds, matches, uploads."""
