"""What the program waits for when it waits for input, and what to do about each kind of work."""
