"""Where files of our own are kept."""

import sys
from pathlib import Path

import platformdirs
import pytest

from tbprof.base.process.user_dirs import cache_directory


@pytest.mark.parametrize("given", [None, "", " ", "/var/tmp/cache"])
def test_the_folder_is_that_of_the_system(
    given: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TBPROF_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if given is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", given)
    assert cache_directory() == Path(platformdirs.user_cache_dir("tbprof"))


@pytest.mark.skipif(sys.platform != "linux", reason="XDG")
def test_a_relative_folder_is_ignored_as_the_specification_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("TBPROF_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_directory() == Path("~/.cache/tbprof").expanduser()


def test_a_folder_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TBPROF_CACHE_DIR", "~/kept")
    assert cache_directory() == Path("~/kept").expanduser()
