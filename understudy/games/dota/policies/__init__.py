"""What players do next: items and wards, beside the counts they must beat."""
