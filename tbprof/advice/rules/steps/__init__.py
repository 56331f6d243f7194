"""Rules about steps: their phases, their input, slow steps, late workers.

May import `devices`.
"""
