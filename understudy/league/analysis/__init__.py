"""What a league's results say: ratings, Nash mixture, exploitability, comparisons, highlights."""
