"""Tables of steps that several pages show."""
