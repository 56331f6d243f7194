"""Results of the analysis and timelines, written by hand: what a test would otherwise compute."""
