"""Running sums and products, and sampling by running sums.

| operator                   | the element                                                                  |
|----------------------------|------------------------------------------------------------------------------|
| `cumsum`, `cumprod`        | the sum, the product of the elements up to this one along an axis            |
| `multinomial_from_uniform` | the first place where the running sum of the probabilities is above a number |

Order: from the first place on, in the dtype of the result, each step rounded.
"""

from collections.abc import Callable

from refmlc.diag import fail
from refmlc.diag.catalogue import TYPE_MISMATCH
from refmlc.lang import te
from refmlc.lang.ir import tir
from refmlc.lang.library.definition import Operator
from refmlc.lang.library.gathering import require_indices
from refmlc.lang.library.movement import flatten
from refmlc.lang.library.shapes import axis_of, must_agree, require_float, require_rank
from refmlc.lang.library.statements import at, local, loop, loops, repeat_while, store, when, within, written
from refmlc.lang.te import Tensor, Value

Step = Callable[[Value, Value], Value]


def _scanned(
    data: Tensor, axis: int | None, dtype: str | None, step: Step, start: int, name: str, *, exclusive: bool
) -> Tensor:
    """`step` applied from the first place on. An axis of None: along the elements in row-major order."""
    if axis is None:
        return _scanned(flatten(data), 0, dtype, step, start, name, exclusive=exclusive)
    along = axis_of(axis, data.ndim)
    kind = data.dtype if dtype in (None, "", "void") else str(dtype)
    if kind == "bool":
        raise fail(TYPE_MISMATCH, f"`{name}` takes numbers; give a dtype for bool")

    def body(ins: list[tir.Buffer], outs: list[tir.Buffer]) -> tir.Stmt:
        def row(outer: tuple[Value, ...]) -> tir.Stmt:
            def place(i: Value) -> tir.Stmt:
                def here(k: Value) -> tuple[Value, ...]:
                    return (*outer[:along], k, *outer[along:])

                term = te.cast(at(ins[0], *here(i - 1 if exclusive else i)), kind)
                first = te.const(start, kind) if exclusive else term
                before = at(outs[0], *here(i - 1))
                return when(i == 0, store(outs[0], first, *here(i)), store(outs[0], step(before, term), *here(i)))

            return loop(data.shape[along], place, "k")

        return loops([extent for axis_number, extent in enumerate(data.shape) if axis_number != along], row)

    return written([(data.shape, kind)], [data], body, name)[0]


def cumsum(data: Tensor, *, axis: int | None = None, dtype: str | None = None, exclusive: bool = False) -> Tensor:
    """The sum of the elements up to this one along an axis; `exclusive`: of those before it, 0 for the first.

    Shapes: the same; with an axis of None a vector of all elements. Dtypes: `dtype`, to which elements are converted
    first. Order: from the first place on, each step rounded. Fails: RM105, RM201.
    """
    return _scanned(data, axis, dtype, lambda total, term: total + term, 0, "cumsum", exclusive=exclusive)


def cumprod(data: Tensor, *, axis: int | None = None, dtype: str | None = None, exclusive: bool = False) -> Tensor:
    """The product of the elements up to this one along an axis; `exclusive`: of those before it, 1 for the first.

    Shapes, dtypes, order, failures: those of `cumsum`.
    """
    return _scanned(data, axis, dtype, lambda total, term: total * term, 1, "cumprod", exclusive=exclusive)


def multinomial_from_uniform(
    prob: Tensor, uniform_sample: Tensor, sample_indices: Tensor, *, dtype: str = "int64"
) -> Tensor:
    """For each sample the first place of its row of `prob` whose running sum is above the sample's number.

    Where there is none, the last place. Shapes: (n, 1), as the samples. Order: sums as `cumsum`, in the dtype of
    `prob`. Fails: RM105, RM201, RM202.
    """
    for tensor in (prob, uniform_sample, sample_indices):
        require_rank(tensor, 2, "multinomial_from_uniform")
    require_float(prob, "multinomial_from_uniform")
    require_indices(sample_indices, "multinomial_from_uniform")
    if uniform_sample.dtype != prob.dtype:
        dtypes = f"{prob.dtype} and {uniform_sample.dtype}"
        raise fail(TYPE_MISMATCH, f"`multinomial_from_uniform` takes floats of one dtype; these are {dtypes}")
    for tensor in (uniform_sample, sample_indices):
        must_agree(tensor.shape[1], te.const(1, "int64"), "the second dimension of the samples")
    must_agree(uniform_sample.shape[0], sample_indices.shape[0], "the number of samples")
    total, place, last = local("total", 1, prob.dtype), local("place"), prob.shape[1] - 1

    def body(ins: list[tir.Buffer], outs: list[tir.Buffer]) -> tir.Stmt:
        def sample(i: Value) -> tir.Stmt:
            row = at(ins[2], i, 0)
            go_on = te.all(at(place, 0) < last, at(total, 0) <= at(ins[1], i, 0))
            return within(
                [total, place],
                store(place, 0, 0),
                store(total, at(ins[0], row, 0), 0),
                repeat_while(
                    go_on,
                    store(place, at(place, 0) + 1, 0),
                    store(total, at(total, 0) + at(ins[0], row, at(place, 0)), 0),
                ),
                store(outs[0], at(place, 0), i, 0),
            )

        return loop(sample_indices.shape[0], sample)

    shape = (sample_indices.shape[0], te.const(1, "int64"))
    return written([(shape, str(dtype))], [prob, uniform_sample, sample_indices], body, "multinomial")[0]


SCANNING = (
    Operator("cumsum", cumsum, "LIB-940", ("cumsum",)),
    Operator("cumprod", cumprod, "LIB-940", ("cumprod",)),
    Operator(
        "multinomial_from_uniform",
        multinomial_from_uniform,
        "LIB-941",
        domains={"prob": "unit", "uniform_sample": "unit", "sample_indices": "index"},
    ),
)
