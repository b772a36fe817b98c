"""What the programs of Relax have in common: the functions that they call."""

from hand import ask, f32

FUNCS = """
@I.ir_module
class Module:
    @T.prim_func
    def both(A: T.Buffer((2,), "float32"), S: T.Buffer((2,), "float32"), P: T.Buffer((2,), "float32")):
        T.func_attr({"global_symbol": "linked_both"})
        for i in range(2):
            S[i] = A[i] + A[i]
            P[i] = A[i] * A[i]

    @T.prim_func
    def twice(a: T.handle, b: T.handle):
        T.func_attr({"global_symbol": "twice"})
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            B[i] = A[i] + A[i]

    @T.prim_func
    def fill(a: T.handle, n: T.int64, k: T.int64):
        A = T.match_buffer(a, (n,), "int64")
        for i in range(n):
            A[i] = k

    @T.prim_func
    def bump(A: T.Buffer((2,), "float32")):
        T.func_attr({"global_symbol": "bump"})
        for i in range(2):
            A[i] = A[i] + T.float32(1)

    @T.prim_func
    def bump_into(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(2):
            B[i] = A[i]
            A[i] = A[i] + T.float32(1)

    @T.prim_func
    def copy(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(2):
            B[i] = A[i]

    @T.prim_func
    def half(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        B[0] = A[0]

    @T.prim_func
    def plus_one(n: T.int64) -> T.int64:
        T.func_attr({"global_symbol": "plus_one"})
        return n + T.int64(1)

    @T.prim_func
    def double_heap(H: T.Buffer((3,), "int64")):
        H[2] = H[0] * T.int64(2)

    @R.function
    def add_relax(a: R.Tensor((2,), "float32"), b: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return R.add(a, b)
"""
X, Y = f32(2, 3), f32(10, 20)
PAIR = 'out_ty=[R.Tensor((2,), "float32"), R.Tensor((2,), "float32")]'
T2 = 'R.Tensor((2,), "float32")'


def body(lines, params=f"x: {T2}", head="@R.function(pure=False)", funcs=FUNCS):
    indented = "\n".join(f"        {line}" for line in lines.strip("\n").split("\n"))
    start = funcs or "\n@I.ir_module\nclass Module:"
    return f"{start}\n    {head}\n    def main({params}):\n        cls = Module\n{indented}\n"


def case(book, name, clauses, lines, *calls, **more):
    params = {key: more.pop(key) for key in ("params", "head", "funcs") if key in more}
    ask(book, name, clauses, body(lines, **params), *calls, **more)
