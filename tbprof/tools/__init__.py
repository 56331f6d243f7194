"""The tools: each names the parts of a host's summary that it needs, and builds tables of them."""

from tbprof.tools.registry import TOOLS as TOOLS
