"""Kernels scheduled as the course does: texts of functions, and the words of their steps (`step_applications`).

`window(n, threads)`: each block of threads fetches what it reads together. `blocked(…)`: a product of matrices in
tiles, both operands fetched together, the sum in registers. `tensorized(n, tile)`: memory of special scopes around a
block of blocks. Sizes that do not divide are guarded, or refused.
"""


def window(n, threads):
    """A sum of three neighbours. Words as the first half of the chapter on GPUs."""
    text = f"""# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer(({n + 2},), "float32"), B: T.Buffer(({n},), "float32")):
    for i in range({n}):
        with T.sblock("C"):
            vi = T.axis.spatial({n}, i)
            B[vi] = A[vi] + A[vi + 1] + A[vi + 2]
"""
    steps = [
        ["split", "C", 0, [None, threads]],
        ["bind", "C", 0, "blockIdx.x"],
        ["bind", "C", 1, "threadIdx.x"],
        ["cache_read", "C", "A", "shared"],
        ["compute_at", "A_shared", "C", 1],
        ["split", "A_shared", 2, [None, threads]],
        ["bind", "A_shared", 3, "threadIdx.x"],
    ]
    return text, steps


def product(n, *, turned):
    """The text of a product of square matrices, the second as it is or turned."""
    second = "B[vj, vk]" if turned else "B[vk, vj]"
    return f"""# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer(({n}, {n}), "float32"), B: T.Buffer(({n}, {n}), "float32"), X: T.Buffer(({n}, {n}), "float32")):
    for i, j, k in T.grid({n}, {n}, {n}):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                X[vi, vj] = T.float32(0)
            X[vi, vj] = X[vi, vj] + A[vi, vk] * {second}
"""


def blocked(n, local, threads, tile, lanes):
    """`local` x `local` elements for each of `threads` x `threads` threads; `tile` terms are fetched at once."""
    steps = [
        ["cache_write", "C", "local"],
        ["split", "C", 0, [None, threads, local]],
        ["split", "C", 3, [None, threads, local]],
        ["split", "C", 6, [None, tile]],
        ["reorder", "C", [0, 3, 1, 4, 6, 7, 2, 5]],
        ["reverse_compute_at", "X_local", "C", 3],
        ["bind", "C", 0, "blockIdx.y"],
        ["bind", "C", 1, "blockIdx.x"],
        ["fuse", "C", [2, 3]],
        ["bind", "C", 2, "threadIdx.x"],
    ]
    for name in ("A", "B"):
        steps += [
            ["cache_read", "C", name, "shared"],
            ["compute_at", f"{name}_shared", "C", 3, True],
            ["fuse", f"{name}_shared", [4, 5]],
            ["split", f"{name}_shared", 4, [None, threads * threads, lanes]],
            ["vectorize", f"{name}_shared", 6],
            ["bind", f"{name}_shared", 5, "threadIdx.x"],
        ]
    return product(n, turned=False), [*steps, ["decompose_reduction", "C", 3]]


def tensorized(n, tile):
    """Tiles as blocks, with memory of their own around them."""
    steps = [
        ["split", "C", 0, [None, tile]],
        ["split", "C", 2, [None, tile]],
        ["split", "C", 4, [None, tile]],
        ["reorder", "C", [0, 2, 4, 1, 3, 5]],
        ["blockize", "C", 3],
        ["cache_read", "C_o", "A", "global.A_reg"],
        ["cache_read", "C_o", "B", "global.B_reg"],
        ["compute_at", "A_global.A_reg", "C_o", 2],
        ["compute_at", "B_global.B_reg", "C_o", 2],
        ["cache_write", "C_o", "global.accumulator"],
        ["reverse_compute_at", "X_global.accumulator", "C_o", 1],
        ["decompose_reduction", "C_o", 2],
    ]
    return product(n, turned=True), steps
