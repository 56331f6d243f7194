"""What holds for every page, answer, finding, sentence and pattern, whatever the trace is."""
