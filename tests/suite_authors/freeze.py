"""Write the manifest, the list of ids and the floors of conformance/VERSION; `--draft` before a release."""

import sys
from pathlib import Path

from refmlc.conform.freeze import freeze

ROOT = Path(__file__).resolve().parents[2] / "conformance"

if __name__ == "__main__":
    sys.stdout.write(f"{freeze(ROOT, draft='--draft' in sys.argv)} cases\n")
