"""Players of the OneShot track, which has two levels and no day but today."""
