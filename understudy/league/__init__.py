"""Who meets whom, who is kept, and how strong everybody is. Knows no game and no torch.

`players` who is in the league, `payoff` who beats whom, `pfsp` whom to prefer as opponent,
`matchmaking` and `rules` what each role does, `recipe` the settings of a whole league, `season`
the loop, `ratings` and `mixture` strength, `exploit` weakness, `summary` what is worth telling.
"""
