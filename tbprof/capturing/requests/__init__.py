"""Capture requests: which programs to record, for how long, with which options.

Imports nothing from the other packages of `capturing`.
"""
