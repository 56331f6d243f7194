"""Sources of steps: annotations, the devices' own step lines, or repeated executions."""
