"""The real scml package beside our engine, and the proof that both play alike."""
