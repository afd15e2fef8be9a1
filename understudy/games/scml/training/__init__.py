"""How the layers of HRL-XF are trained. `recipes.py` lists what can be asked for."""
