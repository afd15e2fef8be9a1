"""The acting half of learning by play: matches are played, and what the learner did is kept."""
