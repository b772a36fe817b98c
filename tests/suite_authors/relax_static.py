"""Relax by hand: static rules."""

from hand import ask, reject
from relax_usual import T2, case


def static(book):
    flow = "with R.dataflow():\n    a = R.add(x, x)\n    b = R.add(a, a)\n    R.output(b)\nreturn {}"
    rows = [
        ("scope.unknown", "RLX-901", "RM104", "y = R.add(x, x)\nreturn z"),
        ("dataflow.escape", "RLX-902", "RM204", flow.format("a")),
        (
            "dataflow.effect",
            "RLX-903 RLX-124",
            "RM205",
            'with R.dataflow():\n    a = R.print(x, format="{}")\n    b = R.add(x, x)\n    R.output(b)\nreturn b',
        ),
        ("called.unknown", "RLX-904", "RM207", "y = cls.nowhere(x)\nreturn y"),
        ("called.arity", "RLX-904", "RM206", "y = cls.add_relax(x)\nreturn y"),
        ("called.type", "RLX-904", "RM202", 'y = cls.add_relax(x, R.const([1.0, 2.0, 3.0], "float32"))\nreturn y'),
        ("call-tir.arity", "RLX-905", "RM206", f"y = R.call_tir(cls.both, (x,), out_ty={T2})\nreturn y"),
        (
            "call-tir.shape",
            "RLX-905",
            "RM202",
            'y = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((3,), "float32"))\nreturn y',
        ),
        (
            "call-tir.dtype",
            "RLX-905",
            "RM201",
            'y = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((2,), "int32"))\nreturn y',
        ),
        ("shape-variable", "RLX-906", "RM211", 'n = T.int64()\ny = R.zeros(R.shape([n]), "float32")\nreturn y'),
        ("declared.binding", "RLX-907", "RM202", 'y: R.Tensor((3,), "float32") = R.add(x, x)\nreturn y'),
        ("declared.condition", "RLX-907 RLX-114", "RM201", "if x:\n    y = R.add(x, x)\nelse:\n    y = x\nreturn y"),
        ("declared.field", "RLX-907", "RM201", "t = (x, x)\ny = t[2]\nreturn y"),
        ("operator.arguments", "RLX-909", "RM202", 'y = R.add(x, R.const([1.0, 2.0, 3.0], "float32"))\nreturn y'),
        ("operator.dtypes", "RLX-909", "RM201", 'y = R.add(x, R.const([1, 2], "int32"))\nreturn y'),
        ("impure", "RLX-903", "RM212", 'y = R.print(x, format="{}")\nreturn x'),
    ]
    for name, clauses, code, lines in rows:
        head = "@R.function" if name == "impure" else "@R.function(pure=False)"
        case(book, f"reject.relax.{name}", clauses, lines, ([], reject(code)), head=head)
    ask(
        book,
        "reject.relax.names",
        "RLX-908",
        f"\n@R.function\ndef main(x: {T2}, x: {T2}):\n    return x\n",
        ([], reject("RM210")),
    )
    book.write("relax", "Static rules of Relax.")
