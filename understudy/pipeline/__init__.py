"""The pipeline, a file per stage. Each turns what the one before left into something new:

    record      players -> recordings     what happened in matches
    encode      recordings -> samples     one row per decision
    train       samples -> model          weights, metrics, evaluation
    compete     players -> results        who beats whom, with intervals
    league      players -> better players snapshots, ratings, weaknesses, matches to watch
    report      run -> page               all of it for a person to read

Each stage works in its own folder of a run (`data/runs.py`) and can be stopped at any moment: the
same call goes on where it was. A stage takes plain values and returns plain values; the command
line parses and prints.
"""
