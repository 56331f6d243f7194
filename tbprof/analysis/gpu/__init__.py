"""What ran on GPUs: events by kind, phases, kernels, and how busy GPUs were.

Works on planes of GPUs, with calls of the host only where they describe a copy.
"""
