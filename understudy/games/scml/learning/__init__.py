"""From recordings to HRL-XF: samples, labels, networks, a recipe per layer."""
