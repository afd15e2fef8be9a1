"""OpenSpiel's games of two players: `openspiel:leduc_poker`, with chance and hidden cards."""
