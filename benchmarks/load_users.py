"""Browsers that open pages, for locust: `load.py` starts them.

LOAD_RUNS names the runs, LOAD_TOOLS the pages, both separated by commas.
"""

import os
import random

from locust import HttpUser, between

from benchmarks.programs import ROUTE

RUNS, TOOLS = (os.environ[name].split(",") for name in ("LOAD_RUNS", "LOAD_TOOLS"))


def open_page(browser: HttpUser) -> None:
    """What both programs are asked for a page."""
    page = {"run": random.choice(RUNS), "tag": random.choice(TOOLS)}
    browser.client.get(f"{ROUTE}/hosts", params=page, name="hosts")
    browser.client.get(f"{ROUTE}/data", params={**page, "host": "host0"}, name="data")


class Browser(HttpUser):  # type: ignore[misc] # locust may not be here
    """Opens one page after the other, each of any run, and looks at it for a second or two."""

    wait_time = between(0.5, 2.0)
    tasks = (open_page,)
