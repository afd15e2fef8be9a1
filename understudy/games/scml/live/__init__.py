"""A person in one factory of a short world: L1's mask, L2's goals and HRL's advice beside it."""
