"""Who is stronger: paired comparisons in the same slots, with intervals."""
