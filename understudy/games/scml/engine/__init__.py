"""The rules of SCML's Standard world as our own code, for agents written for scml.

Read `world.py` first: a day in its `step`. `understudy verify scml` holds all of it against the
real package, contract by contract.
"""
