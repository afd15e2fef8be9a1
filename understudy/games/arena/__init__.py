"""The arena: a small, very fast two-player shooter.

`sim` the compiled rules and what a player knows, `codec` features and actions, `data` the tables,
`play` scripted players and matches, `env` the Gymnasium and PettingZoo faces, `recipes` training,
`viewer` replays, `game` all of it for the pipeline, `commands` for the command line.
"""
