"""Learning by play: environments side by side, trajectories, returns, losses, the learner."""
