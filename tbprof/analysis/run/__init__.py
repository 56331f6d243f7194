"""The recording as a whole: its environment, its time, what a file holds."""
