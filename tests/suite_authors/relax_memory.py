"""Relax by hand: memory."""

import numpy as np
from hand import K, f32, undefined
from relax_usual import X, case

STORE = 's = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'


def tensor(name, offset, level="memory"):
    return (
        f'{name} = R.{level}.alloc_tensor(s, R.prim_value({offset}), R.shape([2]), R.dtype("float32"), R.prim_value(0))'
        if level == "vm"
        else f'{name} = R.memory.alloc_tensor(s, {offset}, R.shape([2]), R.dtype("float32"), 0)'
    )


def memory(book):
    case(
        book,
        "relax.memory.two-tensors",
        "RLX-302 RLX-303 RLX-304",
        f"{STORE}\n{tensor('a', 0)}\n{tensor('b', 8)}\nR.memory.kill_storage(s)\ncls.copy(x, a)\ncls.copy(a, b)\nreturn (a, b)",
        ([X], [X, X, K]),
    )
    vm = 's = R.vm.alloc_storage(R.shape([16]), R.prim_value(0), R.dtype("uint8"), R.str("global"))'
    case(
        book,
        "relax.memory.vm",
        "RLX-302 RLX-303",
        f"{vm}\n{tensor('a', 0, 'vm')}\ncls.copy(x, a)\nreturn a",
        ([X], [X, K]),
    )
    case(
        book,
        "relax.memory.reuse-after-last-use",
        "RLX-303 RLX-304",
        f"{STORE}\n{tensor('a', 0)}\ncls.copy(x, a)\n{tensor('c', 8)}\ncls.copy(a, c)\nR.memory.kill_tensor(a)\n{tensor('b', 0)}\ncls.bump_into(c, b)\nreturn (b, c)",
        ([X], [X, f32(3, 4), K]),
    )
    case(
        book,
        "undefined.memory.reused-too-early",
        "RLX-303",
        f"{STORE}\n{tensor('a', 0)}\ncls.copy(x, a)\n{tensor('b', 4)}\n{tensor('c', 8)}\ncls.copy(a, c)\nreturn c",
        ([X], {"kind": "undefined", "code": "RM316"}),
    )
    case(
        book,
        "undefined.memory.begins-uninitialised",
        "RLX-303 TIR-007",
        f"{STORE}\n{tensor('a', 0)}\ncls.copy(x, a)\n{tensor('b', 0)}\n{tensor('c', 8)}\ncls.copy(b, c)\nreturn c",
        ([X], {"kind": "undefined", "code": "RM305"}),
    )
    case(
        book,
        "undefined.memory.outside-of-storage",
        "RLX-303",
        f"{STORE}\n«{tensor('a', 12)}»\nreturn a".replace("«a = ", "a = «"),
        ([X], undefined("RM304")),
    )
    case(
        book,
        "undefined.memory.killed",
        "RLX-304 RLX-101",
        "y = x\nR.memory.kill_tensor(x)\nz = R.add(y, x)\nreturn z",
        ([X], {"kind": "undefined", "code": "RM316"}),
    )
    case(
        book,
        "relax.memory.killed-variable-other-lives",
        "RLX-304 RLX-101",
        "y = x\nR.vm.kill_object(x)\nz = R.add(y, y)\nreturn z",
        ([X], [f32(4, 6), K]),
    )
    m = np.arange(6, dtype=np.float32)
    case(
        book,
        "relax.memory.view",
        "RLX-305 RLX-306",
        'n = R.null_value()\na = R.memory.view(x, R.shape([2, 2]), n, R.prim_value(8))\nb = R.memory.ensure_zero_offset(a)\nc = R.memory.view(x, n, R.dtype("int32"), n)\nreturn (a, b, c)',
        ([m], [m[2:].reshape(2, 2), m[2:].reshape(2, 2), m.view(np.int32), K]),
        params='x: R.Tensor((6,), "float32")',
    )
    case(
        book,
        "undefined.memory.view-outside",
        "RLX-305",
        "n = R.null_value()\na = «R.memory.view(x, R.shape([7]), n, R.prim_value(0))»\nreturn a",
        ([m], undefined("RM304")),
        params='x: R.Tensor((6,), "float32")',
    )
    case(
        book,
        "relax.memory.alloc-tensor",
        "RLX-301",
        't = R.builtin.alloc_tensor(R.shape([2]), R.dtype("float32"), R.prim_value(0), R.str("global"))\ncls.copy(x, t)\nreturn t',
        ([X], [X, K]),
    )
    case(
        book,
        "undefined.memory.negative",
        "RLX-301",
        't = «R.builtin.alloc_tensor(R.shape([n]), R.dtype("float32"), R.prim_value(0), R.str("global"))»\nreturn t',
        ([-1], undefined("RM315")),
        params='n: R.Prim("int64")',
    )
    book.write("relax-memory", "Memory in lowered Relax.")
