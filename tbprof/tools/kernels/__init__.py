"""What the page of kernels asks for when one is chosen: its calls."""
