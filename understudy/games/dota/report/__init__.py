"""What people see of a match or a run."""
