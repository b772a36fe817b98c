"""What the programs of TensorIR have in common: one input, one output."""

from hand import K, ask, f32, i32, new, tir

AR = 'A: T.Buffer((4,), "float32"), R: T.Buffer((4,), "float32")'
IR = 'A: T.Buffer((4,), "int32"), R: T.Buffer((4,), "int32")'
ONE = 'A: T.Buffer((1,), "int32"), R: T.Buffer((1,), "int32")'
FOUR = f32(1, 2, 3, 4)
INTS = i32(10, 20, 30, 40)
OUT, IOUT = new([4], "float32"), new([4], "int32")


def simple(book, name, clauses, body, expected, params=IR, given=INTS, out=IOUT, **more):
    """One input, one output."""
    ask(book, name, clauses, tir(params, body), ([given, out], [K, expected]), **more)
