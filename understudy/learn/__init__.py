"""From samples to a policy: batches, networks, objectives, and the loop that fits them."""
