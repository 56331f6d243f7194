"""Records one worker of a job, of the steps FIRST and nine more, once the file START is there.

    python record_worker.py FOLDER NAME FIRST START

Leaves FOLDER/NAME/plugins/profile/..., FOLDER/NAME.json as record_tensorflow.py does and, when it
is about to wait, FOLDER/NAME.ready.
"""

import json
import sys
import time
from pathlib import Path

from record_tensorflow import SLEEP_S, loop


def main() -> None:
    """Runs steps of which the worker called "slow" takes much longer than others."""
    folder, name, first, start = sys.argv[1:]

    def wait() -> None:
        Path(folder, f"{name}.ready").touch()
        while not Path(start).exists():
            time.sleep(0.002)

    sleep_s = 4 * SLEEP_S if name == "slow" else SLEEP_S
    rows = loop(Path(folder, name), ahead=2, sleep_s=sleep_s, first=int(first), wait=wait)
    Path(folder, f"{name}.json").write_text(json.dumps({"steps": rows}), encoding="utf-8")


if __name__ == "__main__":
    main()
