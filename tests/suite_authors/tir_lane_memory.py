"""TensorIR by hand: memory that is allocated inside of a vectorized loop is another one in each iteration."""

from hand import K, ask, i32, new, tir

PARAMS = 'A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")'
GIVEN = [5, -2, 9, 0]
FORMS = {
    "number": "x: T.int32 = A[i]\n    B[i] = x * 2 + i",
    "element": 'x = T.alloc_buffer((1,), "int32", scope="local")\n    x[0] = A[i]\n    B[i] = x[0] * 2 + i',
    "two": 'x = T.alloc_buffer((2,), "int32", scope="local")\n    x[0] = A[i]\n    x[1] = i\n    B[i] = x[0] * 2 + x[1]',
}


def lane_memory(book):
    """A number that is set, one element, two."""
    for name, body in FORMS.items():
        text = tir(PARAMS, f"for i in T.vectorized(4):\n    {body}")
        wanted = i32(*(2 * one + place for place, one in enumerate(GIVEN)))
        ask(book, f"tir.lane-memory.{name}", "TIR-205 TIR-206", text, ([i32(*GIVEN), new([4], "int32")], [K, wanted]))
    book.write("lane-memory", "Memory of each iteration of a vectorized loop.")
