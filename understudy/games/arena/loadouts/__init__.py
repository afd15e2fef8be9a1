"""The variant with loadouts: hidden, chosen by the policy as a match begins, in a circle."""
