"""The events of TPU cores: ops by kind, phases, exchanges, program runs, duty cycle.

Works on planes of TPU cores and their compiled programs; knows nothing about steps.
"""
