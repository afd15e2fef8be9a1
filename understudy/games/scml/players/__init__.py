"""Who can play in a world: the league's agents, ours, and wrappers around both."""
