"""HRL-XF as it plays: four layers, their networks in numpy, weights, a trace."""
