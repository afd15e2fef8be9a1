"""Who meets whom, who is kept, and how strong everybody is. Knows no game and no torch.

`population` who is in the league, `payoff` who beats whom, `matchmaking` (PFSP) and `rules` what
each role does, `recipe` the settings of a whole league, `season` the loop; `analysis/` what came of
it: ratings, the Nash mixture, exploitability, highlights.
"""
