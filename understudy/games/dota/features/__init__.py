"""From recordings to samples: what was known at a minute."""
