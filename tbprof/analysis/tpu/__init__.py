"""What ran on TPU cores: ops by kind, phases, exchanges, programs, duty cycle.

Works on planes of TPU cores and their compiled programs; steps are not known here.
"""
