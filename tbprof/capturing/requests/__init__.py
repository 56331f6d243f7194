"""Capture requests: which programs to record, for how long, with which options.

Nothing comes in from the other rooms of `capturing`.
"""
