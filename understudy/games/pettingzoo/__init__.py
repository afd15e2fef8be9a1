"""PettingZoo's environments of two players, each as a game: `pettingzoo:connect_four_v3`.

Or one of your own, `pettingzoo:MODULE:FUNCTION`, where the function makes an environment.
"""
