"""A harness for Atheris and ClusterFuzzLite: any bytes, through reading, static rules, printing and reading again.

    pip install atheris && python tests/fuzz/read_module.py -max_total_time=600 FOLDER_OF_SEEDS

For ClusterFuzzLite, `.clusterfuzzlite/Dockerfile` of your fork begins with OSS-Fuzz's image `base-builder-python`,
copies the tree to `$SRC/refmlc`, works there, and copies `tests/fuzz/build.sh` to `$SRC/build.sh`.

A finding is an exception other than a failure of refmlc's own with a code, or a text that is not read back equal.
`tests/e2e/test_fuzz_harness.py` calls `one_input` without Atheris.
"""

import sys
import warnings

from refmlc.diag import Internal, RefmlcError
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.script import show
from refmlc.lang.script.reader.syntax import decoded
from refmlc.lang.wellformed.reader_checks import read

NAME = "input.py"


def one_input(data: bytes) -> str:
    """What becomes of the bytes: the code of a refusal, or `read`. Fails: AssertionError, or as refmlc must not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            module = read(decoded(data, NAME), NAME)
            text = show(module, show_meta=True)
        except Internal:
            raise
        except RefmlcError as failure:
            return failure.code.id
        assert structural_equal(read(text, "printed.py"), module), "the printed text is another module"
    return "read"


def main() -> None:
    """Run Atheris with its own options."""
    import atheris  # noqa: PLC0415 - installed where the harness runs

    atheris.instrument_all()
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
