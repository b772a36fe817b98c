"""The process of `shell` that reads and shows a text: it prints what that cost, as JSON."""

import json
import sys
import time
from pathlib import Path

from refmlc.lang.script import show
from refmlc.lang.script.reader.text import read_source, source_of


def peak_megabytes() -> float:
    """The most memory that this program ever had; 0 where the system does not report it."""
    try:  # unlike `getrusage`, which counts the process from which this one was started
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1e3 for line in status.splitlines() if line.startswith("VmHWM:")), 0.0)


def main(path: str) -> None:
    """Read and show the text at `path`."""
    source = source_of(path)
    start = time.process_time()
    module = read_source(source)
    read = time.process_time()
    megabytes = peak_megabytes()
    begin = time.process_time()
    show(module)
    shown = time.process_time() - begin
    sys.stdout.write(json.dumps({"read": read - start, "show": shown, "megabytes": megabytes}))


if __name__ == "__main__":
    main(sys.argv[1])
