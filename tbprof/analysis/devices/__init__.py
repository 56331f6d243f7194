"""What devices are and can do, and by which clock their events ran.

Facts of a device as a whole, of any vendor.
"""
