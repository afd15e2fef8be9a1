"""Learning from samples: a recipe, the loop, the data, cloning, evaluation."""
