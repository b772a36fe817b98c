"""Two tensors, or a tensor and a number, element by element: every way to broadcast, and the order of operands."""

import numpy as np
from op_matrices import ints
from op_several import one, several

ALL = {
    "add": (np.add, "LIB-201"),
    "subtract": (np.subtract, "LIB-201"),
    "multiply": (np.multiply, "LIB-201"),
    "divide": (lambda a, b: np.trunc(a / b).astype(np.int32), "LIB-202"),
    "floor_divide": (np.floor_divide, "LIB-203"),
    "mod": (np.fmod, "LIB-204"),
    "floor_mod": (np.mod, "LIB-205"),
    "maximum": (np.maximum, "LIB-207"),
    "minimum": (np.minimum, "LIB-207"),
    "equal": (np.equal, "LIB-208"),
    "not_equal": (np.not_equal, "LIB-208"),
    "less": (np.less, "LIB-208"),
    "less_equal": (np.less_equal, "LIB-208"),
    "greater": (np.greater, "LIB-208"),
    "greater_equal": (np.greater_equal, "LIB-208"),
    "bitwise_and": (np.bitwise_and, "LIB-210"),
    "bitwise_or": (np.bitwise_or, "LIB-210"),
    "bitwise_xor": (np.bitwise_xor, "LIB-210"),
    "left_shift": (np.left_shift, "LIB-211"),
    "right_shift": (np.right_shift, "LIB-211"),
}
SHAPES = (
    ("same", (2, 3), (2, 3)),
    ("row", (2, 3), (3,)),
    ("row-first", (3,), (2, 3)),
    ("column", (2, 3), (2, 1)),
    ("both", (2, 1), (1, 3)),
    ("both-back", (1, 3), (2, 1)),
    ("number", (2, 3), ()),
    ("number-first", (), (2, 3)),
    ("numbers", (), ()),
    ("ones", (1, 1), (1,)),
    ("deep", (2, 1, 4), (3, 1)),
    ("deep-back", (3, 1), (2, 1, 4)),
    ("middle", (2, 3, 4), (2, 1, 4)),
    ("none", (0, 3), (1, 3)),
    ("one-to-none", (1, 3), (0, 1)),
)


def word(name):
    return name.replace("_", "-")


def pairs(book):
    book.witness = "numpy"
    a, b = ints(2, 1, 4, seed=1), ints(3, 1, seed=2)
    b[b == 0] = 3
    for name, (of, clause) in ALL.items():
        right = abs(b) if "shift" in name else b
        form = f"{name}(a, b)"
        one(book, f"op.{word(name)}.broadcast", clause, [a, right], form, of(a, right))
        two, five = np.int32(2), np.int32(-5)
        divisor = np.where(b == 0, 1, b)
        rows = [(f"{name}(a, R.prim_value(2))", of(a, two))]
        if "shift" not in name:
            rows.append((f"{name}(R.prim_value(-5), b)", of(five, divisor)))
        else:
            rows.append((f"{name}(R.prim_value(-5), b)", of(five, abs(b))))
        inputs = [a, right]
        several(book, f"op.{word(name)}.with-a-number", clause, inputs, rows)
    for name, left, right in SHAPES:
        x, y = ints(*left, seed=1), ints(*right, seed=2)
        rows = [("subtract(a, b)", np.subtract(x, y)), ("less(a, b)", np.less(x, y))]
        several(book, f"op.subtract.shapes-{name}", "LIB-201 LIB-208", [x, y], rows)
    late(book)
    floats(book)
    flags(book)


def late(book):
    """Extents that are known only in the call."""
    forms = {"subtract(a, b)": np.subtract, "greater(b, a)": lambda a, b: b > a, "subtract(b, a)": lambda a, b: b - a}
    for name, kinds, shapes in (
        ("same", ('("n", 3)', '("n", 3)'), (((2, 3), (2, 3)), ((1, 3), (1, 3)), ((0, 3), (0, 3)))),
        ("with-one", ('("n", 3)', "(1, 3)"), (((2, 3), (1, 3)), ((1, 3), (1, 3)), ((0, 3), (1, 3)))),
        ("of-lower-rank", ('("n", "m")', '("m",)'), (((2, 3), (3,)), ((3, 1), (1,)), ((2, 0), (0,)))),
        ("two-names", ('("n", 3)', '("m", 3)'), (((2, 3), (2, 3)), ((4, 3), (4, 3)))),
        ("name-and-number", ('("n", 3)', "(4, 3)"), (((4, 3), (4, 3)),)),
    ):
        inputs = [[ints(*shape, seed=at) for at, shape in enumerate(both)] for both in shapes]
        calls = [(pair, [of(*pair) for of in forms.values()]) for pair in inputs]
        rows = list(zip(forms, calls[0][1], strict=True))
        types = [f'R.Tensor({kind}, "int32")' for kind in kinds]
        several(book, f"op.subtract.late-{name}", "LIB-201 LIB-208", inputs[0], rows, *calls[1:], types=types)


def floats(book):
    """Division and its rests of floats: the quotient is rounded before its floor is taken."""
    a = np.array([[7.5, -7.5, 0.1, 1, -0.0, 1e30, 3]], np.float32)
    b = np.array([[2], [-2], [0.1], [3.25]], np.float32)

    def r(v):
        return np.asarray(v, np.float64).astype(np.float32).astype(np.float64)

    wide, other = a.astype(np.float64), b.astype(np.float64)
    quotient = r(wide / other)
    rest = r(wide - r(np.floor(quotient) * other))
    rows = [
        ("floor_divide(a, b)", np.floor(quotient).astype(np.float32)),
        ("mod(a, b)", np.fmod(a, b)),
        ("floor_mod(a, b)", rest.astype(np.float32)),
        ("divide(a, b)", quotient.astype(np.float32)),
    ]
    several(book, "op.floor-divide.floats", "LIB-202 LIB-203 LIB-204 LIB-205", [a, b], rows)
    x, y = np.array([[2.0], [0.5], [9.0]], np.float32), np.array([3, -1.5, 0.5, 0], np.float32)
    rows = [
        ("power(a, b)", (x.astype(np.float64) ** y).astype(np.float32)),
        ("power(b, a)", np.float32([[powered(float(p), float(q)) for p in y] for q in x[:, 0]])),
        ("atan2(a, b)", np.arctan2(x.astype(np.float64), y).astype(np.float32)),
        ("atan2(b, a)", np.arctan2(y.astype(np.float64), x).astype(np.float32)),
        ("power(a, R.prim_value(T.float32(3)))", (x.astype(np.float64) ** 3).astype(np.float32)),
        ("atan2(R.prim_value(T.float32(1.5)), b)", np.arctan2(1.5, y.astype(np.float64)).astype(np.float32)),
    ]
    several(book, "op.power.and-atan2", "LIB-206", [x, y], rows)


def powered(base, exponent):
    return base**exponent if base >= 0 or exponent == int(exponent) else np.nan


def flags(book):
    a, b = np.array([[False], [True]]), np.array([False, True, True])
    for name, of in (
        ("logical_and", np.logical_and),
        ("logical_or", np.logical_or),
        ("logical_xor", np.logical_xor),
        ("bitwise_and", np.bitwise_and),
        ("bitwise_or", np.bitwise_or),
        ("bitwise_xor", np.bitwise_xor),
    ):
        one(book, f"op.{word(name)}.of-bool", "LIB-209 LIB-210", [a, b], f"{name}(a, b)", of(a, b))


def singles(book):
    """Operators of one tensor, on every kind of dtype that they take."""
    book.witness = "numpy"
    x = np.array([[-np.inf, -2.5, -1.5, -0.5, -0.0], [0.0, 0.5, 1.5, 2.5, np.inf]], np.float32)
    nan = np.array([np.nan, np.inf, -np.inf, 3e38, -0.0, 0.0, -1e-45, 1e-45], np.float32)
    rows = [(f"{name}(a)", of(x)) for name, of in (
        ("abs", np.abs), ("negative", np.negative), ("sign", np.sign), ("square", np.square), ("ceil", np.ceil),
        ("floor", np.floor), ("round", np.round), ("trunc", np.trunc)
    )]  # fmt: skip
    rows += [
        (f"{name}(b)", of(nan)) for name, of in (("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite))
    ]
    sign = np.float32([0, 1, -1, 1, 0, 0, -1, 1])
    rows += [("sign(b)", sign), ("negative(b)", -nan), ("abs(b)", np.abs(nan))]
    rows[2] = ("sign(a)", np.float32([[-1, -1, -1, -1, 0], [0, 1, 1, 1, 1]]))
    several(book, "op.abs.and-others-of-floats", "LIB-101 LIB-102 LIB-103 LIB-104", [x, nan], rows)
    for dtype in ("int8", "uint8", "int64"):
        i = np.array([[3, 0, 100], [11, 1, 5]], dtype) - np.array([[0, 0, 0], [11, 7, 2]]).astype(dtype) * (
            dtype[0] == "i"
        )
        names = ("abs", "negative", "sign", "ceil", "floor", "round", "trunc", "bitwise_not")[2 * (dtype[0] == "u") :]
        of = {"abs": np.abs, "negative": np.negative, "sign": np.sign, "bitwise_not": np.bitwise_not}
        rows = [(f"{name}(a)", of.get(name, np.copy)(i).astype(dtype)) for name in names]
        several(book, f"op.sign.and-others-of-{dtype}", "LIB-101 LIB-102 LIB-104 LIB-105", [i.astype(dtype)], rows)
    small = np.array([[3, 0, -7], [11, -11, 5]], np.int8)
    one(book, "op.square.of-int8", "LIB-103", [small], "square(a)", small * small)
    f = np.array([[True, False], [False, False]])
    rows = [("logical_not(a)", ~f), ("bitwise_not(a)", ~f)]
    several(book, "op.logical-not.and-bitwise-not", "LIB-105 LIB-106", [f], rows)
