"""What marks steps: annotations, the devices' own step lines, or executions that repeat."""
