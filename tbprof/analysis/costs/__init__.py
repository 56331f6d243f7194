"""What the instructions of compiled programs compute and move, from their shapes.

Everything is per execution. What ran, how often and how long, belongs in `gpu`, `tpu` and `ops`.
"""
