"""What a trace is made of, as columns: the waist between reading and analysis."""
