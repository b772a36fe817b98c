"""TensorIR functions: the te/topi library, and the same functions after random legal schedules."""

import random
from collections.abc import Iterator

import numpy as np
import tvm
from tvm import IRModule, te, tirx, topi
from tvm.s_tir import Schedule

Entry = tuple[str, IRModule, list[np.ndarray]]


def te_functions() -> Iterator[tuple[str, list, list]]:
    """Name, tensors of the function (outputs last), shape bindings for the symbolic ones."""
    n = te.var("n")
    a, b, v = te.placeholder((8, 12), name="A"), te.placeholder((12, 10), name="B"), te.placeholder((n, 8), name="V")
    k = te.reduce_axis((0, 12), name="k")
    yield "te.matmul", [a, b, te.compute((8, 10), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")], []
    yield "te.relu", [a, te.compute(a.shape, lambda i, j: te.max(a[i, j], 0), name="relu")], []
    r = te.reduce_axis((0, 8), name="r")
    yield "te.rowmax-symbolic", [v, te.compute((n,), lambda i: te.max(v[i, r], axis=r), name="M")], [5]
    yield (
        "te.shift",
        [
            a,
            te.compute(
                a.shape, lambda i, j: tirx.if_then_else(tirx.all(i >= 1, j >= 1), a[i - 1, j - 1], 0.0), name="S"
            ),
        ],
        [],
    )
    yield "topi.softmax-symbolic", [v, topi.nn.softmax(v)], [4]
    yield "topi.layout", [a, topi.transpose(a)], []
    image, kernel = te.placeholder((1, 3, 8, 8), name="I"), te.placeholder((4, 3, 3, 3), name="K")
    yield "topi.conv2d", [image, kernel, topi.nn.conv2d(image, kernel, 1, 1, 1, "NCHW")], []
    yield "topi.pool", [image, topi.nn.pool2d(image, (2, 2), (2, 2), (1, 1), (0, 0, 0, 0), "max")], []
    half = te.placeholder((6, 8), name="H", dtype="float16")
    yield "topi.sum-float16", [half, topi.sum(half, axis=1)], []
    ints = te.placeholder((6, 8), name="N", dtype="int32")
    yield "topi.sum-int32", [ints, topi.sum(ints, axis=0)], []
    yield "topi.divide-int32", [ints, te.compute((6, 8), lambda i, j: ints[i, j] // 3 + ints[i, j] % 5, name="D")], []
    bytes_ = te.placeholder((6, 8), name="Y", dtype="uint8")
    yield "topi.cast-uint8", [bytes_, topi.cast(bytes_, "float32")], []
    yield "te.scan", [ints, topi.cumsum(ints, axis=1)], []
    brain = te.placeholder((6, 8), name="P", dtype="bfloat16")
    yield "te.add-bfloat16", [brain, te.compute((6, 8), lambda i, j: brain[i, j] + brain[i, j], name="Q")], []
    for name in ["exp", "log", "sqrt", "tanh", "sigmoid", "erf", "floor", "ceil"]:
        x = te.placeholder((4, 7), name="X")
        yield f"topi.{name}", [x, getattr(topi, name)(x)], []
    for name in ["add", "subtract", "multiply", "maximum", "minimum", "less", "equal"]:
        z = te.placeholder((12,), name="Z")
        yield f"topi.{name}", [a, z, getattr(topi, name)(a, z)], []


def arrays(tensors, bindings) -> list[np.ndarray]:
    """Inputs by random, outputs zeroed; symbolic extents take the bindings."""
    values = np.random.default_rng(len(tensors))
    result = []
    for tensor in tensors:
        shape = [int(d) if isinstance(d, tirx.IntImm | int) else bindings[0] for d in tensor.shape]
        dtype = str(tensor.dtype)
        if dtype in ("float32", "float16", "float64", "bfloat16"):
            import ml_dtypes  # noqa: PLC0415

            kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
            result.append(values.uniform(0.1, 4, shape).astype(kind))
        else:
            result.append(values.integers(0, 2 if dtype == "bool" else 9, shape).astype(dtype))
    result[-1] = np.zeros_like(result[-1])
    return result


def functions() -> Iterator[Entry]:
    """Each function as it is created."""
    for name, tensors, bindings in te_functions():
        func = te.create_prim_func(tensors).with_attr("global_symbol", "main")
        yield name, IRModule({"main": func}), arrays(tensors, bindings)


def mutate(schedule: Schedule, chance: random.Random) -> str:
    """Apply one random primitive; TVM refuses illegal ones by an exception."""
    blocks = schedule.get_child_blocks(schedule.get_sblock("root"))
    block = chance.choice(blocks)
    loops = schedule.get_loops(block)
    loop = chance.choice(loops)
    marks = ("parallel", "vectorize", "unroll")
    moves = ("split", "fuse", "reorder", "cache_read", "cache_write", "inline", "decompose", "at")
    kind = chance.choice((*marks, *moves))
    match kind:
        case "split":
            schedule.split(loop, [None, chance.choice([2, 3, 4])])
        case "fuse":
            schedule.fuse(*loops[:2])
        case "reorder":
            schedule.reorder(*chance.sample(loops, len(loops)))
        case "parallel" | "vectorize" | "unroll":
            getattr(schedule, kind)(loop)
        case "cache_read":
            schedule.cache_read(block, 0, "local")
        case "cache_write":
            schedule.cache_write(block, 0, "local")
        case "inline":
            schedule.compute_inline(block)
        case "decompose":
            schedule.decompose_reduction(block, loop)
        case "at":
            other = chance.choice(blocks)
            schedule.compute_at(block, chance.choice(schedule.get_loops(other)))
    return kind


def scheduled(per_function: int, seed: int = 2027) -> Iterator[Entry]:
    """Each function after a few random primitives."""
    for name, module, values in functions():
        for number in range(per_function):
            chance = random.Random(f"{seed}/{name}/{number}")
            schedule = Schedule(module, debug_mask="all")
            done: list[str] = []
            for _ in range(12):
                if len(done) == 3:
                    break
                trial = schedule.copy()
                try:
                    done.append(mutate(trial, chance))
                except Exception:  # noqa: S112 - TVM says no in many ways
                    continue
                schedule = trial
            yield f"{name}/{number}:{'+'.join(done)}", schedule.mod, values


def gpu() -> Iterator[tuple[str, IRModule, list[np.ndarray], IRModule]]:
    """Functions bound to threads (no barrier needed), and the same function for the CPU."""
    for name, module, values in functions():
        schedule = Schedule(module)
        try:
            for block in schedule.get_child_blocks(schedule.get_sblock("root")):
                loops = schedule.get_loops(block)
                outer, inner = schedule.split(loops[0], [None, 2])
                schedule.bind(outer, "blockIdx.x")
                schedule.bind(inner, "threadIdx.x")
        except Exception:  # noqa: S112
            continue
        yield f"gpu/{name}", schedule.mod, values, module


@tvm.instrument.pass_instrument
class Stages:
    """Collects the module after every pass that changed it."""

    def __init__(self):
        self.stages, self.last = [], ""

    def run_after_pass(self, module, info):
        """Keep the module if its text is new."""
        text = module.script(show_meta=True)
        if text != self.last and len(module.functions) == 1:
            self.stages.append((info.name.split(".")[-1], module))
        self.last = text


def lowered() -> Iterator[tuple[str, IRModule, list[np.ndarray], bool]]:
    """Each stage of the TensorIR pipeline; from MakePackedAPI on the calling convention is another (False)."""
    chosen = ("te.matmul", "te.shift", "topi.softmax-symbolic", "topi.pool", "topi.sum-float16", "te.add-bfloat16")
    entries = [*functions(), *scheduled(2)]
    for name, module, values in entries:
        if not name.startswith(chosen):
            continue
        stages = Stages()
        try:
            with tvm.transform.PassContext(instruments=[stages]):
                tvm.compile(module, tvm.target.Target("llvm"))
        except RuntimeError:
            continue  # TVM cannot build every schedule that it makes (a symbolic loop to be unrolled)
        plain = True
        for stage, result in stages.stages:
            plain = plain and stage not in ("MakePackedAPI", "SplitHostDevice")
            yield f"{name}@{stage}", result, values, plain
