"""Decisions for a running game: observations in, actions with probabilities and value out.

messages    what is asked and answered, in JSON, the same over every wire
codecs      observations of a game as a policy reads them, and options as the game takes them
decider     a policy at play in many matches at once
streams     what was decided, written down before it is answered, as `record --logs` reads it
service     all of that together: one message in, one answer out, many at once
lines       over standard input and output
web         over HTTP and WebSocket, on this machine alone
metrics     counts and times
follow      logs that grow become recordings as they grow
dota        a match of Dota 2 as its client tells it, with a page
"""
