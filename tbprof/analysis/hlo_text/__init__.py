"""The HLO text of compiled programs: shapes, literals, attributes, instructions, modules.

The text is the same as XLA prints. Programs are read by `hlo`.
"""
