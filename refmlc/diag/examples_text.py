"""Examples of malformed and ill-formed text, by code: (what is wrong, how it reads corrected)."""

TEXT: dict[str, tuple[str, str]] = {
    "RM101": ("A[i = 1", "A[i] = 1"),
    "RM102": ('refmlc.read_file("model.so")', 'refmlc.read_file("model.py")'),
    "RM103": (
        'N = 16\n\n@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((N,), "float32")): ...',
        '@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((16,), "float32")): ...',
    ),
    "RM104": ("B[i] = A[j]", "for i, j in T.grid(8, 8):\n    B[i] = A[j]"),
    "RM105": ("for i in T.serial(0, 8, 1, 1):\n    ...", "for i in T.serial(0, 8):\n    ..."),
    "RM106": ('A: T.Buffer((8,), "real32")', 'A: T.Buffer((8,), "float32")'),
    "RM107": ("A[0] = T.int8(300)", 'A[0] = T.Cast("int8", T.int32(300))'),
    "RM108": ('w = metadata["relax.expr.Constant"][0]', "print(module.script(show_meta=True))"),
    "RM109": ("refmlc run missing.py", "refmlc run model.py"),
    "RM110": ("refmlc run model.py --params whole_model.pkl", "refmlc run model.py --params arrays.npz"),
    "RM111": (
        'vm["main"](numpy.zeros((1, 784)))  # float64, declared float32',
        'vm["main"](numpy.zeros((1, 784), "float32"))',
    ),
    "RM112": ('refmlc.build(module, tier="fast")', 'refmlc.build(module, tier="auto")'),
    "RM113": (
        '# Metadata omitted. Use show_meta=True in script() method to show it.\nmetadata = "…"',
        "print(module.script(show_meta=True))",
    ),
    "RM201": (
        "C[i] = A[i] + B[i]  # A is float32, B is int32, both given as T.Add",
        'C[i] = A[i] + T.Cast("float32", B[i])',
    ),
    "RM202": (
        'y = R.call_tir(cls.linear, (x, x, b), out_ty=R.Tensor((1, 10), "float32"))  # W is (10, 128)',
        'y = R.call_tir(cls.linear, (x, w, b), out_ty=R.Tensor((1, 10), "float32"))',
    ),
    "RM203": (
        "# nodes made by hand: the loop over `i` has ended\nBufferStore(A, FloatImm(FLOAT32, 0.0), (i,))",
        "For(i, zero, eight, ForKind.SERIAL, BufferStore(A, FloatImm(FLOAT32, 0.0), (i,)))",
    ),
    "RM204": (
        "with R.dataflow():\n    lv = R.add(x, x)\n    gv = R.add(lv, x)\n    R.output(gv)\nreturn lv",
        "with R.dataflow():\n    lv = R.add(x, x)\n    gv = R.add(lv, x)\n    R.output(lv, gv)\nreturn lv",
    ),
    "RM205": (
        'with R.dataflow():\n    _ = R.print(x, format="{}")\n    R.output()',
        '_ = R.print(x, format="{}")\nwith R.dataflow():\n    ...',
    ),
    "RM206": (
        '# add takes A, B and writes C\ny = R.call_tir(cls.add, (a,), out_ty=R.Tensor((4,), "float32"))',
        'y = R.call_tir(cls.add, (a, b), out_ty=R.Tensor((4,), "float32"))',
    ),
    "RM207": (
        'R.call_tir(cls.env_relu, (x,), out_ty=R.Tensor((4,), "float32"))',
        'R.call_dps_packed("env.relu", (x,), out_ty=R.Tensor((4,), "float32"))',
    ),
    "RM208": ('A: T.Buffer((4, 4), "float32")\nA[i] = 0.0', 'A: T.Buffer((4, 4), "float32")\nA[i, j] = 0.0'),
    "RM209": (
        "for i in range(8):\n    vi = T.axis.spatial(8, i)\n    A[vi] = 0.0",
        'for i in range(8):\n    with T.block("A"):\n        vi = T.axis.spatial(8, i)\n        A[vi] = 0.0',
    ),
    "RM210": ("def add(A, A, C): ...", "def add(A, B, C): ..."),
    "RM211": (
        'n = T.int64()\nA = T.match_buffer(a, (n * 2,), "float32")',
        'n = T.int64()\nA = T.match_buffer(a, (n, 2), "float32")',
    ),
    "RM212": (
        '@R.function\ndef main(x: R.Tensor):\n    _ = R.print(x, format="{}")\n    return x',
        '@R.function(pure=False)\ndef main(x: R.Tensor):\n    _ = R.print(x, format="{}")\n    return x',
    ),
    "RM213": ("if A[0] > 0.0:\n    break", "for i in range(8):\n    if A[i] > 0.0:\n        break"),
}
