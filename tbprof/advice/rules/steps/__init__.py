"""Rules about steps: what they are made of, their input, which are slow, who waits for whom.

`devices` may come in.
"""
