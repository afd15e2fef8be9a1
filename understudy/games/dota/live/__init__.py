"""A match that is being played, as its client tells it.

report      what one post or one look at a live file tells; nothing of who plays
gsi         posts of the client's Game State Integration as reports, and what to write for it
live_list   entries of OpenDota's list of live matches as reports
match       reports in order become the tables of a recording, so that all that reads those works
sight       which features each source tells, and the models that read no others
recipe      how these models are trained and judged
posts       recorded matches as the posts that a client would have sent
"""
