"""Computes the parts of hosts in other processes, or on a cluster."""
