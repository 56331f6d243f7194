"""The tools: each names the parts that it needs from each host, and builds tables from them."""

from __future__ import annotations

from tbprof.tools.registry import TOOLS as TOOLS
