"""Rules about steps: what they are made of, their input, which are slow, who waits for whom.

May import `devices`.
"""
