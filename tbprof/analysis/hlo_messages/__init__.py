"""Messages of HLO protos, read as columns: fields, names, metadata, groups of devices and frames.

What they mean belongs in `hlo`.
"""
