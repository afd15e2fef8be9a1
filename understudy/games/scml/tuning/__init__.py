"""Better numbers for Steward by search, in compiled worlds by the thousand."""
