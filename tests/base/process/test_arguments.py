"""Arguments that are read without a parser are those that a parser returns."""

from argparse import ArgumentParser

import pytest

from tbprof.base.process.arguments import Arguments


def declare(parser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help="files")
    parser.add_argument("--tool", required=True)
    parser.add_argument("--host", dest="hosts", action="append", default=["a"])
    parser.add_argument("--format", choices=["json", "csv"], default="json")
    parser.add_argument("--table", type=int, default=0, metavar="N")
    parser.add_argument("--is-large", action="store_true")
    parser.add_argument("-o", "--output-file", metavar="FILE")


def read(line: str):
    arguments = Arguments()
    declare(arguments)
    return arguments.read(line.split())


@pytest.mark.parametrize(
    "line",
    [
        "x --tool t",
        "--tool t x",
        "x y --tool t z",
        "x --tool t --tool u",
        "x --tool t --host b --host c",
        "x --tool t --format csv -o out",
        "x --tool t --output-file out --format json",
    ],
)
def test_usual_arguments_are_those_of_a_parser(line):
    parser = ArgumentParser(allow_abbrev=False)
    declare(parser)
    assert vars(read(line)) == vars(parser.parse_intermixed_args(line.split()))


@pytest.mark.parametrize(
    "line",
    [
        "",
        "--help",
        "x",
        "--tool t",
        "x --tool",
        "x --tool --format csv",
        "x --tool t --format xml",
        "x --tool t --other v",
        "x --tool=t",
        "x --tool t --table 1",
        "x --tool t --is-large y",
        "x --tool t -oout",
        "x --tool t -o -",
        "x --tool t -- y",
        "x --tool t -h",
    ],
)
def test_what_only_a_parser_can_tell_is_left_to_it(line):
    assert read(line) is None
