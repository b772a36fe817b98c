"""Whatever is typed at the prompt, something is said, and the session lives: no line is a bug of ours."""

from pathlib import Path

import numpy as np
from hypothesis import given, settings, strategies as st

import refmlc
from refmlc.debug import Program, Session
from refmlc.debug.terminal import Shell, completions
from refmlc.debug.terminal.table import ROWS

GOLDEN = Path(__file__).parents[1] / "golden" / "debug"
WORDS = (
    "0", "1", "2", "-1", "9999", "1.5", "1.1", "3.2", "x", "y", "z", "A", "A[0]", "y[1]", "B[0:2]", "A[i]",
    "A[-1]", "A[9]", "A.shape", "A.T", "i", "vi", "i + 1", "1 // 0", "i / 0", "T.float32(1)", "T.exp(i)", "'a'",
    "None", "...", "(", ")", "[", "if", "=", "==", "i = 1", "if vi == 1", "if 'a'", "nan", "inf", "RM304", "all",
    "read", "change", "shifted", "main.y", "undefined.py:3", ":4", ",", "#", "{i}", "\t", "é", "lambda: 1",
    "[0] * 9", "{}", "A[0, 1]", "A[0:1:1]", "A[T.int64(0)]", "T.Cast('int8', 300)",
    "T.if_then_else(i < 1, A[9], 2.0)", "not A", "-A", "A[A[0]]", "x[0]", "result", "z[0]",
)  # fmt: skip
COMMANDS = tuple(name for row in ROWS for name in row.names if name not in ("quit", "q", "exit"))
lines = st.one_of(
    st.tuples(st.sampled_from(COMMANDS), st.lists(st.sampled_from(WORDS), max_size=3)).map(
        lambda pair: " ".join((pair[0], *pair[1]))
    ),
    st.text(max_size=12),
    st.sampled_from(WORDS),
)


@settings(max_examples=60)
@given(typed=st.lists(lines, min_size=1, max_size=14))
def test_whatever_is_typed(typed: list[str]) -> None:
    module = refmlc.read_file(GOLDEN / "undefined.py")
    with Session(Program(module, "main", [np.ones(4, "float32")])) as session:
        shell = Shell(session)
        shell.begin()
        for line in typed:
            said = shell.execute(line)
            assert "RM901" not in said, (line, said)
            assert "Traceback" not in said
            assert all(isinstance(word, str) for word in completions(session, line))
            if shell.over:
                return
        assert "moment" in shell.execute("now")
