"""Pages of a league: who beats whom, how strength grew, who descends from whom."""
