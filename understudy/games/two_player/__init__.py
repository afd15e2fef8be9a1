"""Games of two: what they share, and games that are nothing but their matches."""
