"""Write the manifest and the floors of the suite; `--release`: the list of ids of conformance/VERSION as well."""

import sys
from pathlib import Path

from refmlc.oracle.suite.suite import freeze

ROOT = Path(__file__).resolve().parents[2] / "conformance"

if __name__ == "__main__":
    sys.stdout.write(f"{freeze(ROOT, release='--release' in sys.argv)} cases\n")
