"""Bad input is asked of every tool that is registered, and of timelines."""

from pathlib import Path

import pytest
from helpers.promises.all_pages import Answers, Ask, answers_of


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """What all tools answer of hosts (name=trace), in every layout and format, after checks."""

    def answers(params: dict[str, str] | None = None, **hosts: bytes) -> Answers:
        return answers_of(tmp_path, hosts, params or {})

    return answers
