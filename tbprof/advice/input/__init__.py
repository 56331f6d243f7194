"""What the program waits for when it waits for input, and advice on each kind of work."""
