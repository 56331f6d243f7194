"""The graph viewer: its requests, its document, and files for scripts."""
