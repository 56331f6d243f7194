"""The command lines of benchmarks."""

import argparse


def parser_of(text: str | None) -> argparse.ArgumentParser:
    """A parser whose help shows the text of a module as it stands there."""
    return argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
