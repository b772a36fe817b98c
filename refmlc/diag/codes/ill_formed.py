"""RM2xx IllFormed: a static rule is broken."""

from refmlc.diag.codes.code import Code, instead

TYPE_MISMATCH = Code(
    "RM201",
    "the types do not agree",
    "TIR-902",
    "Two types must agree here and do not: the operands of an operator, a value and the place that it is stored to, "
    "a condition that is not bool, an index that is not an integer, or a declared type and the type that follows "
    "from the value. Nothing is converted implicitly: a conversion is written as a cast.",
    instead(
        "C[i] = A[i] + B[i]  # A is float32, B is int32, both given as T.Add",
        'C[i] = A[i] + T.Cast("float32", B[i])',
    ),
)
SHAPE_MISMATCH = Code(
    "RM202",
    "the shapes do not agree",
    "RLX-905",
    "A tensor has another shape than the declared one. Shape variables of a called function take their "
    "values from the arguments; a contradiction that holds for every value of them is reported. For `call_tir`, the "
    "shapes are those of the buffers of the called function.",
    instead(
        'y = R.call_tir(cls.linear, (x, x, b), out_ty=R.Tensor((1, 10), "float32"))  # W is (10, 128)',
        'y = R.call_tir(cls.linear, (x, w, b), out_ty=R.Tensor((1, 10), "float32"))',
    ),
)
OUT_OF_SCOPE = Code(
    "RM203",
    "the variable is used outside its scope",
    "TIR-901",
    "A variable or buffer is visible from its definition to the end of the construct that defines it: a loop "
    "variable in its loop, a block variable in its block, an allocation in the rest of its sequence, a Relax "
    "variable in its branch or function.",
    instead(
        "# nodes made by hand: the loop over `i` has ended\nBufferStore(A, FloatImm(FLOAT32, 0.0), (i,))",
        "For(i, zero, eight, ForKind.SERIAL, BufferStore(A, FloatImm(FLOAT32, 0.0), (i,)))",
    ),
)
DATAFLOW_ESCAPE = Code(
    "RM204",
    "a dataflow variable escapes its block",
    "RLX-902",
    "A variable that is bound in a dataflow block belongs to this block. Only those that `R.output` names can be "
    "used after it.",
    instead(
        "with R.dataflow():\n    lv = R.add(x, x)\n    gv = R.add(lv, x)\n    R.output(gv)\nreturn lv",
        "with R.dataflow():\n    lv = R.add(x, x)\n    gv = R.add(lv, x)\n    R.output(lv, gv)\nreturn lv",
    ),
)
DATAFLOW_EFFECT = Code(
    "RM205",
    "a dataflow block has an effect",
    "RLX-903",
    "A dataflow block has no effects, so that its bindings can be reordered or removed. Printing, asserting, "
    "killing memory and calling functions that are not pure belong between dataflow blocks.",
    instead(
        'with R.dataflow():\n    _ = R.print(x, format="{}")\n    R.output()',
        '_ = R.print(x, format="{}")\nwith R.dataflow():\n    ...',
    ),
)
ARITY = Code(
    "RM206",
    "the number of arguments is wrong",
    "RLX-904",
    "The called function takes another number of arguments. A TensorIR function called by `call_tir` takes the "
    "inputs, then the outputs, then the values of shape variables.",
    instead(
        '# add takes A, B and writes C\ny = R.call_tir(cls.add, (a,), out_ty=R.Tensor((4,), "float32"))',
        'y = R.call_tir(cls.add, (a, b), out_ty=R.Tensor((4,), "float32"))',
    ),
)
UNKNOWN_FUNCTION = Code(
    "RM207",
    "the module does not have the function",
    "RLX-904",
    "The module has no function of this name. Functions of the module are named `cls.f`, or by `f` itself; a "
    "function from outside is called by its name as a string, with `R.call_dps_packed` or `R.call_packed`.",
    instead(
        'R.call_tir(cls.env_relu, (x,), out_ty=R.Tensor((4,), "float32"))',
        'R.call_dps_packed("env.relu", (x,), out_ty=R.Tensor((4,), "float32"))',
    ),
)
RANK_MISMATCH = Code(
    "RM208",
    "the number of indices is not the rank",
    "TIR-904",
    "A buffer is accessed with one index for each of its dimensions. A buffer of shape `()` is accessed with `[()]`.",
    instead(
        'A: T.Buffer((4, 4), "float32")\nA[i] = 0.0',
        'A: T.Buffer((4, 4), "float32")\nA[i, j] = 0.0',
    ),
)
BLOCK_RULE = Code(
    "RM209",
    "the block breaks a rule of blocks",
    "TIR-907",
    "A block has one binding for each of its axes; axes are integers with integer domains.",
    instead(
        "for i in range(8):\n    vi = T.axis.spatial(8, i)\n    A[vi] = 0.0",
        'for i in range(8):\n    with T.block("A"):\n        vi = T.axis.spatial(8, i)\n        A[vi] = 0.0',
    ),
)
DUPLICATE = Code(
    "RM210",
    "the name is defined twice",
    "TIR-908",
    "A name denotes one thing: two parameters of a function, two functions of a module or two public symbols "
    "have different names, and a variable is not defined again where it is visible.",
    instead(
        "def add(A, A, C): ...",
        "def add(A, B, C): ...",
    ),
)
UNDEFINED_SYMBOL = Code(
    "RM211",
    "the shape variable is never defined",
    "TIR-906",
    "A shape variable gets its value from a parameter: it must be a dimension of one by itself, or a scalar "
    "parameter, or be bound by `R.match_cast`. From `n * 2` alone, `n` is not determined.",
    instead(
        'n = T.int64()\nA = T.match_buffer(a, (n * 2,), "float32")',
        'n = T.int64()\nA = T.match_buffer(a, (n, 2), "float32")',
    ),
)
IMPURE = Code(
    "RM212",
    "a pure function has an effect",
    "RLX-903",
    "A Relax function is pure unless it says `pure=False`. A pure one must not print, assert, kill memory or call "
    "what is not pure. `relax.force_pure` switches the rule off, as TVM's lowering does.",
    instead(
        '@R.function\ndef main(x: R.Tensor):\n    _ = R.print(x, format="{}")\n    return x',
        '@R.function(pure=False)\ndef main(x: R.Tensor):\n    _ = R.print(x, format="{}")\n    return x',
    ),
)
BAD_LOOP_CONTROL = Code(
    "RM213",
    "break or continue is outside a loop",
    "TIR-909",
    "`break` ends the innermost loop around it, `continue` starts its next iteration. Here no loop is around it.",
    instead(
        "if A[0] > 0.0:\n    break",
        "for i in range(8):\n    if A[i] > 0.0:\n        break",
    ),
)
BAD_LAUNCH = Code(
    "RM214",
    "the scope ids of a kernel do not fix a launch",
    "TIX-001",
    "The scope ids below `T.device_entry()` say how many blocks are launched, and of how many threads. What one leaves "
    "open must follow from the others, and no two may say different numbers.",
    instead(
        "T.device_entry()\nwarp = T.warp_id()\nlane = T.lane_id()",
        "T.device_entry()\nwarp = T.warp_id([4])\nlane = T.lane_id([32])",
    ),
)
