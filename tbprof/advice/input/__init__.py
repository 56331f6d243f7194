"""The causes of waits for input, and advice on each kind of input work."""
