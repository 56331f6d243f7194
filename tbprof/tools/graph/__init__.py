"""What the graph viewer is made of: requests, its document, and files for scripts."""
