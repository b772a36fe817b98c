"""RM6xx Exhausted: a budget is used up."""

from refmlc.diag.codes.code import Code, instead

STEPS_EXHAUSTED = Code(
    "RM601",
    "the step budget is used up",
    "",
    "The run took as many steps as its budget allows. A step is a statement, an iteration or a binding. The program "
    "may be long or endless. `Budget(max_steps=…)` and `--max-steps` set the budget.",
    instead(
        "refmlc.build(module)",
        "refmlc.build(module, budget=refmlc.Budget(max_steps=10**9))",
    ),
)
DEPTH_EXHAUSTED = Code(
    "RM602",
    "the nesting is too deep",
    "",
    "Calls, expressions or statements nest deeper than allowed: an endless recursion, or a generated text.",
    instead(
        "def f(x):\n    return cls.f(x)",
        "def f(x, n):\n    if n > 0:\n        y = cls.f(x, n - 1)\n    else:\n        y = x\n    return y",
    ),
)
MEMORY_EXHAUSTED = Code(
    "RM603",
    "the memory budget is used up",
    "",
    "An allocation is larger than the rest of the memory budget, or than the memory of the machine.",
    instead(
        'T.alloc_buffer((1 << 40,), "float64")',
        'T.alloc_buffer((1 << 10,), "float64")',
    ),
)
TEXT_TOO_LARGE = Code(
    "RM604",
    "the text is too large",
    "",
    "The text is longer than the reader accepts. The limit keeps reading within bounded time and memory.",
    instead(
        '@R.function\ndef main(x: R.Tensor((4,), "float32")):\n    w = R.const([0.1, 0.2, …])  # millions of numbers',
        '@R.function\ndef main(x: R.Tensor((4,), "float32"), w: R.Tensor((9999,), "float32")): ...  # --params w.npz',
    ),
)
TIME_EXHAUSTED = Code(
    "RM605",
    "the time budget is used up",
    "",
    "The run, or reading the text, took longer than its time budget. The program may be slow or endless. "
    "`Budget(max_seconds=…)` and `--seconds` set the budget.",
    instead(
        "refmlc.build(module)",
        "refmlc.build(module, budget=refmlc.Budget(max_seconds=600))",
    ),
)
CONSTANTS_EXHAUSTED = Code(
    "RM606",
    "the budget of constants is used up",
    "SCR-004",
    "Constants of a text are computed while it is read, within a budget: integers have at most 256 bits, one operation "
    "gives at most 65,536 items, and all comprehensions, calls and macros of a text together do a bounded amount of "
    "work.",
    instead(
        "N = len([0 for i in range(10**12)])",
        "N = 10**12",
    ),
)
