"""What flows between the stages, and where it lies on disk. pyarrow and numpy only."""
