"""Evidence: of a finding a self-contained page, a case for `conformance/`, a command to replay it; of a proof a file.

| file                  | holds                                                               |
|-----------------------|---------------------------------------------------------------------|
| `record`, `case_file` | a finding as a TOML case; writing and reading it                    |
| `literals`            | values bit by bit, or by rules                                      |
| `replay`              | the case reproduced, in any implementation                          |
| `recorded_model`      | … a finding on the import of a model, with the model                |
| `page`, `listing`     | the page with the map of the difference, the program with its marks |
| `proof_page`          | the page of a proof, with the two terms beside each other           |
| `certificate`         | a proof as a file, and its derivation again from the programs       |
"""

from pathlib import Path
from typing import TYPE_CHECKING

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.ir import IRModule
from refmlc.oracle.evidence.case_file import CaseFile, read_case
from refmlc.oracle.evidence.record import case_of, case_text, recorded
from refmlc.oracle.evidence.replay import ReplayResult, holds, replay
from refmlc.prove import Proof

if TYPE_CHECKING:
    from refmlc.oracle.blame import Blame
    from refmlc.oracle.finding import Finding

__all__ = [
    "CaseFile",
    "ReplayResult",
    "case_of",
    "case_text",
    "holds",
    "read_case",
    "recorded",
    "replay",
    "write_page",
    "write_proof_page",
]


def write_page(finding: "Finding", path: Path | str, blame: "Blame | None" = None, *, command: str = "") -> None:
    """Write the page of `finding` to `path`. Fails: RM109 (the file), RM111, RM112 (no extra `[report]`)."""
    try:
        from refmlc.oracle.evidence import page  # noqa: PLC0415 - an extra: cases are written without it
    except ModuleNotFoundError as missing:
        raise _missing(missing) from None
    page.write_page(finding, path, blame, command=command)


def write_proof_page(
    func: str, proof: Proof, meaning: str, modules: tuple[IRModule, IRModule], path: Path | str, *, command: str
) -> None:
    """Write the page of a verdict on `modules`, in words `meaning`, to `path`. Fails: RM109, RM112 (no `[report]`)."""
    try:
        from refmlc.oracle.evidence import proof_page  # noqa: PLC0415 - as above
    except ModuleNotFoundError as missing:
        raise _missing(missing) from None
    proof_page.write_proof_page(func, proof, meaning, modules, path, command=command)


def _missing(missing: ModuleNotFoundError) -> RefmlcError:
    return fail(BAD_USAGE, f"an HTML page needs `{missing.name}`", None, "pip install 'refmlc[report]'")
