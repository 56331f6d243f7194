"""Jobs on GPUs: what can vary, when what runs, and the trace of it."""
