"""The HLO text of compiled programs: shapes, literals, attributes, instructions, modules.

It is written as XLA prints it. Programs are read by `hlo`.
"""
