"""The events of GPUs: kinds, phases, kernels, and how busy GPUs were.

Works on planes of GPUs. Calls of the host are used only to describe copies and launches.
"""
