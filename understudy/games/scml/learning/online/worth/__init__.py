"""What joint decisions are worth: what is booked, what critics see, which negotiation earned it."""
