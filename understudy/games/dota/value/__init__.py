"""Who will win: models, how they are trained, tested, calibrated and watched."""
