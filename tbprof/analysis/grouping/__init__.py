"""Which events belong together as parts of one step, by who caused whom."""
