"""Runs live in the browser: looked at, compared, started and played against.

    cli/studio.py      understudy studio [RUNS...]
    server.py          sockets, time limits, how many may connect
    access.py          who may ask: token, cookie, origin
    app.py             every address, put together from the routes of the rooms below
    live/              which runs there are, how they stand, their curves
    work/              forms to commands, commands to jobs, one after the other
    look/              pages made on demand by a process of its own, and kept
    play/              a person against a policy

Needs the extra `studio`. Nothing here is kept in memory alone: a run is its folder, a job is a
file. No path is put together from what a browser says: names are looked up among those that were
found on disk.
"""
