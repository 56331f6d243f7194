"""Writes programs as the compiler serializes and prints them.

    python hlo_texts.py TARGET SOURCE COUNT SEED

The programs are the modules of the file SOURCE, and COUNT drawn ones (cost_programs.py). Lines of
JSON: the name, base64 of the HloModuleProto, and the short text, the long text, and the long text
as recorders of TPUs name events.
"""

import base64
import json
import random
import re
import sys
from pathlib import Path

import jax
from cost_programs import KINDS, compile_program
from jaxlib import _hlo


def options(form):
    chosen = _hlo.HloPrintOptions.short_parsable() if form == "short" else _hlo.HloPrintOptions()
    chosen.print_large_constants = form == "long"
    if form == "event":
        chosen.print_operand_shape = True
        chosen.print_backend_config = False
        chosen.print_metadata = False
    return chosen


def main(target, source, count, seed):
    draw = random.Random(seed)
    named = re.findall(r"// (\w+)\n(HloModule.*?\n}\n)(?=\n//|\Z)", Path(source).read_text(), re.S)
    modules = [(name, _hlo.hlo_module_from_text(text)) for name, text in named]
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        function, shapes = kind(draw)
        compiled = compile_program(kind, jax.jit(function).lower(*shapes))
        modules.append((kind.__name__, compiled.runtime_executable().hlo_modules()[0]))
    with Path(target).open("w", encoding="utf-8") as lines:
        for name, module in modules:
            line = {
                "name": name,
                "module": base64.b64encode(module.as_serialized_hlo_module_proto()).decode(),
                **{form: module.to_string(options(form)) for form in ("short", "long", "event")},
            }
            lines.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
