"""Examples of programs that end at run time, by code: (what is wrong, how it reads corrected)."""

RUN: dict[str, tuple[str, str]] = {
    "RM304": ("for i in range(8):\n    B[i] = A[i + 1]", "for i in range(7):\n    B[i] = A[i + 1]"),
    "RM305": (
        'S = T.alloc_buffer((1,), "float32")\nfor i in range(8):\n    S[0] = S[0] + A[i]',
        'S = T.alloc_buffer((1,), "float32")\nS[0] = T.float32(0)\nfor i in range(8):\n    S[0] = S[0] + A[i]',
    ),
    "RM306": ("C[0] = T.int32(2147483647) + A[0]", 'C[0] = T.int64(2147483647) + T.Cast("int64", A[0])'),
    "RM307": ("C[0] = A[0] // B[0]", "C[0] = T.if_then_else(B[0] != 0, A[0] // B[0], 0)"),
    "RM308": ("C[0] = T.shift_left(A[0], 32)", 'C[0] = T.shift_left(T.Cast("int64", A[0]), T.int64(32))'),
    "RM309": (
        'C[0] = T.Cast("int8", A[0])  # A[0] is 1e9',
        'C[0] = T.Cast("int8", T.min(T.max(A[0], T.float32(-128)), T.float32(127)))',
    ),
    "RM310": ("T.assume(n % 4 == 0)  # n is 6", "assert n % 4 == 0"),
    "RM311": ("C[0] = T.clz(A[0])", "C[0] = T.if_then_else(A[0] != 0, T.clz(A[0]), 32)"),
    "RM312": (
        "for i in range(10):\n    vi = T.axis.spatial(8, i)",
        "for i in range(10):\n    vi = T.axis.spatial(8, i)\n    T.where(i < 8)",
    ),
    "RM313": (
        'B = T.decl_buffer((4,), "float32", data=p)  # p has been freed',
        'B = T.decl_buffer((4,), "float32", data=A.data)',
    ),
    "RM314": (
        'A = T.match_buffer(a, (8,), "float32")  # given a tensor of shape (4,)',
        'A = T.match_buffer(a, (n,), "float32")',
    ),
    "RM315": ("for i in range(n - 8):  # n is 4\n    ...", "for i in range(T.max(n - 8, 0)):\n    ..."),
    "RM316": (
        "_ = R.memory.kill_tensor(x)\ny = R.call_tir(cls.f, (x,), …)",
        "y = R.call_tir(cls.f, (x,), …)\n_ = R.memory.kill_tensor(x)",
    ),
    "RM317": (
        'y: R.Tensor((4,), "float32") = R.call_packed("f", x)  # f returns float64',
        'y = R.call_packed("f", x, ty_args=R.Any)\nz = R.match_cast(y, R.Tensor((4,), "float64"))',
    ),
    "RM318": ("T.reads(A[vi])\nB[vi] = A[vi] + A[vi + 1]", "T.reads(A[vi:vi + 2])\nB[vi] = A[vi] + A[vi + 1]"),
    "RM319": (
        "vk = T.axis.spatial(8, k)\nC[0] = C[0] + A[vk]",
        "vk = T.axis.reduce(8, k)\nwith T.init():\n    C[0] = 0.0\nC[0] = C[0] + A[vk]",
    ),
    "RM320": ("vk = T.axis.reduce(4, k // 2)", "vk = T.axis.reduce(8, k)"),
    "RM321": ("for i in T.parallel(8):\n    C[0] = C[0] + A[i]", "for i in range(8):\n    C[0] = C[0] + A[i]"),
    "RM322": ("add_one(x, x)  # tir.noalias", "add_one(x, y)"),
    "RM323": (
        "A[i] = A[i] * 2.0  # A is an input of call_tir\nB[i] = A[i]",
        "B[i] = A[i] * 2.0",
    ),
    "RM324": (
        "def f(x, out):\n    out.numpy()[1:] = x.numpy()[1:]",
        "def f(x, out):\n    out.numpy()[...] = x.numpy()",
    ),
    "RM325": ("for k in range(7):\n    ...\n    vk = T.axis.reduce(8, k)", "for k in range(8):\n    ..."),
    "RM326": ("vk = T.axis.reduce(8, k)\nC[0] = C[0] + A[vk]", "with T.init():\n    C[0] = 0.0\nC[0] = C[0] + A[vk]"),
    "RM327": (
        'if t < 16:\n    T.tvm_storage_sync("shared")  # there are 32 threads',
        'if t < 16:\n    S[t] = A[t]\nT.tvm_storage_sync("shared")',
    ),
    "RM328": (
        "y = R.call_tir_inplace(cls.relu, (x,), inplace_indices=[0], …)\nz = R.add(x, y)",
        "z = R.add(x, x)\ny = R.call_tir_inplace(cls.relu, (x,), inplace_indices=[0], …)",
    ),
    "RM401": (
        'vm["f"](numpy.ones(5, "float32"))  # f begins with: assert n == 4, "n is 4"',
        'vm["f"](numpy.ones(4, "float32"))',
    ),
    "RM402": (
        'vm["main"](x)  # main calls "env.relu"',
        'refmlc.register_func("env.relu", relu)\nvm = refmlc.VirtualMachine(ex)\nvm["main"](x)',
    ),
    "RM403": (
        "def relu(x, out):\n    numpy.maximum(x, 0, out=out)  # tensors are no arrays: TypeError",
        "def relu(x, out):\n    numpy.maximum(x.numpy(), 0, out=out.numpy())",
    ),
    "RM404": ('def f(x):\n    return {"y": x}', "def f(x):\n    return x"),
    "RM405": (
        'y = R.match_cast(x, R.Tensor((4, n), "float32"))  # x has shape (5, 2)',
        'y = R.match_cast(x, R.Tensor((m, n), "float32"))',
    ),
    "RM503": ("T.max(A[0] > 0.0, B[0] > 0.0)", "T.Or(A[0] > 0.0, B[0] > 0.0)"),
    "RM505": ('vm["main"](torch.ones(4, device="cuda"))', 'vm["main"](torch.ones(4))'),
    "RM601": (
        "refmlc.build(module)",
        "refmlc.build(module, budget=refmlc.Budget(max_steps=10**9))",
    ),
    "RM602": (
        "def f(x):\n    return cls.f(x)",
        "def f(x, n):\n    if n > 0:\n        y = cls.f(x, n - 1)\n    else:\n        y = x\n    return y",
    ),
    "RM603": ('T.alloc_buffer((1 << 40,), "float64")', 'T.alloc_buffer((1 << 10,), "float64")'),
    "RM604": (
        '@R.function\ndef main(x: R.Tensor((4,), "float32")):\n    w = R.const([0.1, 0.2, …])  # millions of numbers',
        '@R.function\ndef main(x: R.Tensor((4,), "float32"), w: R.Tensor((9999,), "float32")): ...  # --params w.npz',
    ),
    "RM605": (
        "refmlc.build(module)",
        "refmlc.build(module, budget=refmlc.Budget(max_seconds=600))",
    ),
    "RM701": (
        "for k in range(1, 8):  # an implementation's loop, of a sum that begins at 0\n    C[0] += A[k]",
        "for k in range(8):\n    C[0] += A[k]",
    ),
    "RM702": (
        "return A[i]  # what promises verdicts, without a look at i",
        'if not 0 <= i < n:\n    raise Undefined("RM304")\nreturn A[i]',
    ),
    "RM703": (
        "abort()  # on a module that is defined",
        'say({"stop": "unsupported", "message": "no float16 here"})',
    ),
    "RM704": ("while ready == 0:  # a barrier that one thread never reaches\n    ...", "T.tvm_storage_sync(scope)"),
    "RM705": (
        "y = x * 0.1  # folded in float64, computed in float32",
        "y = x * float32(0.1)  # folded and computed in one format",
    ),
}

ADVICE: dict[str, tuple[str, str]] = {
    "RM406": (
        "T.tvm_throw_last_error()  # after a call that failed",
        "The cause is the call before it, whose status the program looked at.",
    ),
    "RM501": (
        "y = R.ccl.allreduce(x)",
        """It speaks to other workers, and refmlc executes one. Check the functions without it (`refmlc check FILE
--func NAME`), or the module after `LegalizeOps` of TVM. If no operator has the name that the message tells, look at
its spelling.""",
    ),
    "RM502": (
        "T.tvm_warp_shuffle(mask, A[0], 0, 32, 32)",
        "It belongs to one kind of hardware. Check the function as it is before it is lowered for that hardware.",
    ),
    "RM504": (
        'x: R.DTensor((8, 8), "float32", "mesh[0]", "S[0]")',
        "It places a tensor on several devices. Check the functions without it: `refmlc check FILE --func NAME`.",
    ),
}
"""Codes for which nothing is to be written instead: (an example, what to do)."""
