"""HRL-XF for many decisions at once: the four layers of `agent/`, asked by all worlds together."""
