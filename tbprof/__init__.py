"""A profile plugin for TensorBoard that reads XPlane traces."""

__version__ = "0.1.0"
