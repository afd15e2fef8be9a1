"""What hosted agents meet: the interface, utility functions, negotiators, time limits."""
