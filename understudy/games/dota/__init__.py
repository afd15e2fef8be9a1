"""Dota 2, from recordings only: the value of a minute of a match, and what to do next.

`facts` heroes, items and patches, `sources` where matches come from, `features` samples, `value`
the model comparison, `policies` next items and wards, `advice` recommendations, `report` pages and
tables, `game` all of it for the pipeline, `commands` for the command line.
"""
