"""TensorIR by hand: rejected."""

from hand import ask, reject, tir
from tir_functions import TWO
from tir_usual import IR


def rejected(book):
    """Static rules."""
    rows = [
        ("scope.loop-variable", "TIR-901", "RM104", "for i in range(4):\n    R[i] = A[i]\nR[0] = A[«i»]"),
        (
            "scope.allocation",
            "TIR-901",
            "RM104",
            'for i in range(4):\n    B = T.alloc_buffer((1,), "int32")\n    B[0] = 1\n    R[i] = A[i]\nR[0] = «B»[0]',
        ),
        ("dtypes.operands", "TIR-902", "RM201", "R[0] = T.bitwise_and(A[0], T.float32(1))"),
        ("conditions.if-integer", "TIR-903", "RM201", "while A[0]:\n    R[0] = 1"),
        ("rank.load", "TIR-904", "RM208", "R[0] = A[0, 0]"),
        ("rank.store", "TIR-904", "RM208", "R[0, 0] = A[0]"),
        (
            "block.bindings",
            "TIR-907",
            "RM105",
            'for i in range(4):\n    with T.sblock("B"):\n        vi, vj = T.axis.remap("SS", [i])\n        R[vi] = A[vi]',
        ),
        ("break-outside", "TIR-909", "RM213", "break\nR[0] = A[0]"),
        ("continue-outside", "TIR-909", "RM213", "R[0] = A[0]\ncontinue"),
    ]
    for name, clauses, code, body in rows:
        ask(book, f"reject.tir.{name}", clauses, tir(IR, body.replace("«", "").replace("»", "")), ([], reject(code)))
    ask(
        book,
        "reject.tir.names.parameters",
        "TIR-908",
        tir('A: T.Buffer((4,), "int32"), A: T.Buffer((4,), "int32")', "A[0] = 1"),
        ([], reject("RM210")),
    )
    ask(
        book,
        "reject.tir.shape-variable",
        "TIR-906",
        '\n@T.prim_func(s_tir=True)\ndef main(a: T.handle):\n    n = T.int32()\n    A = T.match_buffer(a, (n * 2,), "int32")\n    A[0] = 1\n',
        ([], reject("RM211")),
    )
    ask(
        book,
        "reject.tir.called.unknown",
        "TIR-905",
        '\n@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n    def main(A: T.Buffer((4,), "int32")):\n        Module.nowhere(A.data)\n',
        ([], reject("RM207")),
    )
    ask(
        book,
        "reject.tir.called.arity",
        "TIR-905",
        TWO.replace("Module.add(R.data, A[0])", "Module.add(R.data)"),
        ([], reject("RM206")),
    )
    book.write("tir", "Static rules of TensorIR.")


def refused_conditions(book):
    """Static rules of conditions, after the integers of `if` and `while` (withdrawn: `if-integer`)."""
    rows = [
        ("assert-integer", 'assert A[0], "an integer"'),
        ("while-float", 'while T.Cast("float32", A[0]):\n    R[0] = 1'),
        ("and-integer", "if A[0] and A[1]:\n    R[0] = 1"),
    ]
    for name, body in rows:
        ask(book, f"reject.tir.conditions.{name}", "TIR-903", tir(IR, body), ([], reject("RM201")))
    book.write("conditions", "What is no condition in TensorIR.")
