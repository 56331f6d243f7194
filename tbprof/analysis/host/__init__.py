"""The threads of a host: roles, phases and activity of their events.

Works on columns of one host's threads; steps and devices are not known here.
"""
