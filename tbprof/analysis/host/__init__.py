"""What the threads of a host did: roles, phases and activity of their events.

Columns of one host's threads. Steps and devices are not known here.
"""
