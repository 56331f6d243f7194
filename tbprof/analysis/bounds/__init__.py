"""How near instructions come to what their device can do, and what keeps them from it.

It rests on `programs` and on the peaks of `devices`; pages and findings take their figures here.
"""
