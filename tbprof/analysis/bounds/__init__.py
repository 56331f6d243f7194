"""How close instructions come to the peaks of their device, and what limits them.

Uses `programs` and the peaks of `devices`; pages and findings take their figures from here.
"""
