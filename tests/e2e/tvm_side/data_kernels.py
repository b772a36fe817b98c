"""Runs where TVM is: writes the kernels of TVM's operators that depend on values of integers, one file each.

    PYTHON data_kernels.py FOLDER

Each is what `te.create_prim_func` makes of an operator of `topi` as it stands, or what `LegalizeOps` makes of one of
Relax. Sizes are symbolic where the operator takes them so; a kernel that TVM refuses is printed with the reason.
"""

# ruff: noqa: PLC3002 - a table of lambdas stays uniform, placeholders included

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import tvm
from tvm import relax, te, tirx, topi
from tvm.relax import op as R
from tvm.topi import vision

N, M, K = (tirx.Var(name, "int64") for name in ("n", "m", "k"))


def tensor(name: str, *shape: object, dtype: str = "float32") -> te.Tensor:
    """A placeholder."""
    return te.placeholder(shape, dtype=dtype, name=name)


def indices(*shape: object, dtype: str = "int64", name: str = "indices") -> te.Tensor:
    """A placeholder of integers."""
    return tensor(name, *shape, dtype=dtype)


def of_topi() -> Iterator[tuple[str, Callable[[], list[te.Tensor]]]]:
    """Operators of topi: name, arguments and results."""
    x, flat, i, small = tensor("x", N, 4), tensor("flat", N), indices(M), indices(M, dtype="int32")
    for mode in ("fast", "clip", "wrap"):
        yield f"take_{mode}", lambda mode=mode: [x, i, topi.take(x, i, axis=0, mode=mode)]
    yield "take_axis1", lambda: [x, small, topi.take(x, small, axis=1, mode="fast")]
    yield "take_flat", lambda: [flat, i, topi.take(flat, i, axis=None, mode="fast")]
    yield "take_2d", lambda: (lambda j: [x, j, topi.take(x, j, axis=0, mode="fast")])(indices(M, 3))
    yield (
        "embedding",
        lambda: (lambda w, j: [w, j, topi.take(w, topi.cast(topi.reshape(j, (6,)), "int32"), axis=0, mode="fast")])(
            tensor("weight", N, 16), indices(2, 3)
        ),
    )
    for axis in (0, 1):
        yield f"gather_{axis}", lambda axis=axis: (lambda j: [x, j, topi.gather(x, axis, j)])(indices(N, 4))
    yield "gather_nd", lambda: (lambda j: [x, j, topi.gather_nd(x, j)])(indices(2, M))
    yield "gather_nd_1", lambda: (lambda j: [x, j, topi.gather_nd(x, j)])(indices(1, M))
    for mode in ("update", "add", "mul", "min", "max"):
        yield (
            f"scatter_elements_{mode}",
            lambda mode=mode: (lambda j, u: [x, j, u, topi.scatter_elements(x, j, u, 0, mode)])(
                indices(2, 4), tensor("updates", 2, 4)
            ),
        )
        yield (
            f"scatter_nd_{mode}",
            lambda mode=mode: (lambda j, u: [x, j, u, topi.scatter_nd(x, j, u, mode)])(
                indices(1, 3), tensor("updates", 3, 4)
            ),
        )
    yield "index_put", lambda: (lambda j, v: [x, j, v, topi.index_put(x, [j], v)])(indices(3), tensor("values", 3, 4))
    yield (
        "index_put_add",
        lambda: (lambda j, v: [x, j, v, topi.index_put(x, [j], v, accumulate=True)])(
            indices(3), tensor("values", 3, 4)
        ),
    )
    yield "index_tensor", lambda: [x, i, topi.index_tensor(x, [i])]
    yield "index_tensor_2", lambda: (lambda j: [x, i, j, topi.index_tensor(x, [i, j])])(indices(M, name="others"))
    yield "adv_index", lambda: [x, i, topi.adv_index(x, [i])]
    yield "one_hot", lambda: [i, topi.one_hot(i, 1.0, 0.0, 5, -1, "float32")]
    yield (
        "sparse_to_dense",
        lambda: (lambda j, v: [j, v, topi.sparse_to_dense(j, (8,), v, tirx.const(0.0, "float32"))])(
            indices(3, dtype="int32"), tensor("values", 3)
        ),
    )
    yield (
        "sparse_to_dense_2",
        lambda: (lambda j, v: [j, v, topi.sparse_to_dense(j, (8, 5), v, tirx.const(0.0, "float32"))])(
            indices(3, 2, dtype="int32"), tensor("values", 3)
        ),
    )
    yield "unravel_index", lambda: (lambda s: [i, s, topi.unravel_index(i, s)])(indices(2, name="shape"))
    yield (
        "searchsorted",
        lambda: (lambda s, v: [s, v, topi.searchsorted(s, v, False, "int64")])(
            tensor("sorted", N), tensor("values", M)
        ),
    )
    yield "sort", lambda: [flat, topi.sort(flat)]
    yield "argsort", lambda: [flat, topi.argsort(flat)]
    yield "topk", lambda: [flat, *topi.topk(flat, 2, ret_type="both")]
    yield (
        "dynamic_strided_slice",
        lambda: (lambda b, e, s: [x, b, e, s, topi.dynamic_strided_slice(x, b, e, s, [N, 4])])(
            indices(2, name="begin"), indices(2, name="end"), indices(2, name="strides")
        ),
    )
    yield (
        "sequence_mask",
        lambda: (lambda y, length: [y, length, topi.sequence_mask(y, length, 0.0, 0)])(
            tensor("y", 5, N), indices(N, dtype="int32", name="length")
        ),
    )
    yield (
        "reverse_sequence",
        lambda: (lambda y, length: [y, length, topi.reverse_sequence(y, length, 0, 1)])(
            tensor("y", 5, N), indices(N, name="length")
        ),
    )
    yield "get_valid_counts", lambda: (lambda d: [d, *vision.get_valid_counts(d, 0.5, 0, 1)])(tensor("data", 1, 5, 6))
    yield (
        "nms",
        lambda: (
            lambda d, c, j: [d, c, j, *_list(vision.non_max_suppression(d, c, j, 10, 0.5, False, 3, 2, 1, 0, True))]
        )(tensor("data", 1, 5, 6), indices(1, dtype="int32", name="valid_count"), indices(1, 5, dtype="int32")),
    )
    yield (
        "roi_align",
        lambda: (lambda d, r: [d, r, vision.roi_align_nchw(d, r, (2, 2), 1.0, "avg", 2)])(
            tensor("data", 2, 3, 8, 8), tensor("rois", N, 5)
        ),
    )


def _list(result: object) -> list[te.Tensor]:
    return list(result) if isinstance(result, list | tuple) else [result]


def of_relax() -> Iterator[tuple[str, Callable[[], tvm.IRModule]]]:
    """Operators of Relax, as `LegalizeOps` lowers them."""
    x = ("float32", (N, 4))
    i = ("int64", (M,))
    yield "relax_take", lambda: legalized(lambda a, b: R.take(a, b, 0), x, i)
    yield "relax_gather_elements", lambda: legalized(lambda a, b: R.gather_elements(a, b, 0), x, ("int64", (N, 4)))
    yield "relax_gather_nd", lambda: legalized(lambda a, b: R.gather_nd(a, b), x, ("int64", (M, 2)))
    yield (
        "relax_scatter_elements",
        lambda: legalized(lambda a, b, c: R.scatter_elements(a, b, c, 0), x, ("int64", (2, 4)), ("float32", (2, 4))),
    )
    yield (
        "relax_scatter_nd",
        lambda: legalized(lambda a, b, c: R.scatter_nd(a, b, c), x, ("int64", (3, 1)), ("float32", (3, 4))),
    )
    yield "relax_index_tensor", lambda: legalized(lambda a, b: R.index_tensor(a, [b]), x, i)
    yield (
        "relax_index_put",
        lambda: legalized(lambda a, b, c: R.index_put(a, [b], c), x, ("int64", (3,)), ("float32", (3, 4))),
    )
    yield (
        "relax_one_hot",
        lambda: legalized(
            lambda a: R.one_hot(
                a, relax.prim_value(tirx.FloatImm("float32", 1)), relax.prim_value(tirx.FloatImm("float32", 0)), 5
            ),
            i,
        ),
    )


def legalized(apply: Callable[..., relax.Expr], *kinds: tuple[str, tuple[object, ...]]) -> tvm.IRModule:
    """The module of one call, lowered."""
    builder = relax.BlockBuilder()
    params = [relax.Var(f"x{at}", relax.TensorType(shape, dtype)) for at, (dtype, shape) in enumerate(kinds)]
    with builder.function("main", params):
        with builder.dataflow():
            result = builder.emit_output(builder.emit(apply(*params)))
        builder.emit_func_output(result)
    return relax.transform.LegalizeOps()(builder.get())


def main(folder: Path) -> None:
    """Write the files, and print what TVM refused, as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    refused: dict[str, str] = {}
    programs = [
        (name, lambda make=make: tvm.IRModule({"main": te.create_prim_func(make())})) for name, make in of_topi()
    ]
    for name, make in [*programs, *of_relax()]:
        try:
            (folder / f"{name}.py").write_text(make().script(), encoding="utf-8")
        except Exception as problem:
            refused[name] = f"{type(problem).__name__}: {problem}"[:200]
    json.dump(refused, sys.stdout, indent=1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
