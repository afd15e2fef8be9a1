"""Numbers of a run, turned into charts, tables and one HTML page. Knows no game."""
