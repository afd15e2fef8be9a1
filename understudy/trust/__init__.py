"""Whether a run can be trusted, and whether this program can: `check` and `selftest`."""
