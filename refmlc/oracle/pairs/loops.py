"""Loops of another kind: one variant for each kind, with as many loops of it as may be.

| variant      | loops                                                          |
|--------------|----------------------------------------------------------------|
| `serial`     | every loop but those of threads                                |
| `unrolled`   | innermost ones of at most `MOST_UNROLLED` iterations           |
| `vectorised` | innermost ones whose iterations do not touch what others write |
| `parallel`   | outermost ones, the same                                       |
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.visit import walk
from refmlc.oracle.pairs.variant import Variant
from refmlc.oracle.program import Program
from refmlc.rewrite import schedule

MOST_UNROLLED = 16
Step = Callable[[tir.PrimFunc, tir.Var], tir.PrimFunc]
Chosen = Callable[[tir.For, tuple[tir.For, ...]], bool]


def loop_variants(program: Program) -> Iterator[Variant]:
    """Variants of `program`, each of which has loops of another kind."""
    kinds: tuple[tuple[str, Step, Chosen], ...] = (
        ("serial", schedule.serial, lambda loop, _around: loop.kind is not ForKind.SERIAL),
        ("unrolled", schedule.unroll, lambda loop, _around: innermost(loop) and _short(loop)),
        ("vectorised", schedule.vectorize, lambda loop, _around: innermost(loop)),
        ("parallel", schedule.parallel, lambda _loop, around: not around),
    )
    for label, step, chosen in kinds:
        module = _changed(program.module, step, chosen)
        if module is not None:
            yield Variant(program, module, label, calls=program.calls)


def _changed(module: IRModule, step: Step, chosen: Chosen) -> IRModule | None:
    """`module` with the step taken wherever it may be; None: nowhere."""
    functions = dict(module.functions)
    for name, func in module.functions.items():
        if isinstance(func, tir.PrimFunc):
            functions[name] = _stepped(func, step, chosen)
    changed = any(functions[name] is not func for name, func in module.functions.items())
    return replace(module, functions=functions) if changed else None


def _stepped(func: tir.PrimFunc, step: Step, chosen: Chosen) -> tir.PrimFunc:
    for loop, around in loops(func.body, ()):
        if loop.kind is not ForKind.THREAD_BINDING and chosen(loop, around):
            try:
                func = step(func, loop.loop_var)
            except RefmlcError:  # it may not be, here
                continue
    return func


def loops(stmt: tir.Stmt, around: tuple[tir.For, ...]) -> Iterator[tuple[tir.For, tuple[tir.For, ...]]]:
    """Every loop with those around it."""
    match stmt:
        case tir.For():
            yield stmt, around
            yield from loops(stmt.body, (*around, stmt))
        case tir.While(body=body) | tir.AttrStmt(body=body):
            yield from loops(body, around)
        case tir.SeqStmt(seq):
            for part in seq:
                yield from loops(part, around)
        case tir.IfThenElse(_, then_case, else_case):
            yield from loops(then_case, around)
            if else_case is not None:
                yield from loops(else_case, around)
        case tir.SBlockRealize(block=block):
            yield from loops(block.body, around)
        case _:
            return


def innermost(loop: tir.For) -> bool:
    """Whether no loop stands in it."""
    return not any(isinstance(node, tir.For | tir.While) for node in walk(loop.body))


def _short(loop: tir.For) -> bool:
    return isinstance(loop.extent, tir.IntImm) and loop.extent.value <= MOST_UNROLLED
