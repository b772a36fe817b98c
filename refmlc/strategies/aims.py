"""Programs with faults of graphs and threads: written as text, with drawn dtypes, sizes and further bindings.

| aim   | the program                                                                         |
|-------|-------------------------------------------------------------------------------------|
| RM316 | uses a tensor after `kill_tensor`: a computed or an allocated one                   |
| RM317 | declares the result of a packed function with another extent, rank or dtype         |
| RM323 | calls a function by `call_tir` that writes to its input too                         |
| RM324 | calls a function that does not write the last row, or element, of its output        |
| RM327 | has a barrier that only some threads reach, or two in two branches                  |
| RM328 | uses a tensor after `call_tir_inplace` wrote into it                                |

A program always hits its aim. Up to two bindings before and after the fault are defined for all values.
"""

from refmlc.lang.dtypes import SCALARS, DType
from refmlc.lang.wellformed.reader_checks import read
from refmlc.strategies.arguments import Array
from refmlc.strategies.case import Case
from refmlc.strategies.choices import Choices
from refmlc.strategies.contents import WAYS
from refmlc.strategies.ranges import limits

MODULE_AIMS = ("RM316", "RM317", "RM323", "RM324", "RM328")
"""The codes that a module of Relax may aim at."""
THREAD_AIMS = ("RM327",)
"""The codes that a function with threads may aim at."""

DTYPES = ("float32", "int32", "float16", "int8", "bool")
HEAD = "# from tvm.script import ir as I, relax as R, tirx as T\n"
STEPS = ("R.maximum({0}, {0})", "R.minimum({0}, {0})", "R.reshape({0}, R.shape([{1}]))")
BOOLEAN = ("R.logical_and({0}, {0})", "R.logical_not({0})", "R.reshape({0}, R.shape([{1}]))")


def aimed_case(choices: Choices, aim: str) -> Case:
    """A program with an aim of `MODULE_AIMS` or `THREAD_AIMS`."""
    return (_Threads if aim in THREAD_AIMS else _Graph)(choices).case(aim)


class _Graph:
    """A module whose `main` takes one tensor."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.dtype = choices.pick(DTYPES)
        self.sizes = [choices.pick((2, 1, 3, 4))]
        if choices.chance(40):
            self.sizes.append(choices.pick((2, 1, 3)))
        self.first = "n" if choices.chance(25) else str(self.sizes[0])
        self.lines: list[str] = []
        self.last = "x"

    @property
    def dims(self) -> str:
        return ", ".join([self.first, *map(str, self.sizes[1:])])

    @property
    def tensor(self) -> str:
        return f'R.Tensor(({self.dims},), "{self.dtype}")'

    def case(self, aim: str) -> Case:
        self.neighbours()
        functions = getattr(self, f"_{aim.lower()}")()
        if aim not in ("RM317", "RM324"):  # a read of the result would be another fault
            self.neighbours()
        shape = f'"{self.first}"' if self.first == "n" else self.first
        further_extents = "".join(f", {size}" for size in self.sizes[1:])
        text = f"{HEAD}@I.ir_module\nclass Module:\n{functions}    @R.function(pure=False)\n"
        text += f'    def main(x: R.Tensor(({shape}{further_extents},), "{self.dtype}")):\n'
        text += "        n = T.int64()\n" * (self.first == "n") + "        cls = Module\n"
        text += "".join(f"        {line}\n" for line in self.lines) + f"        return {self.last}\n"
        return Case(read(text, "aimed.py"), "main", ((_array(self.choices, self.dtype, self.sizes),),), aim)

    def neighbours(self) -> None:
        """Add up to two bindings of whole tensors."""
        self.choices.repeat(40, 2, lambda: self.bind(self.choices.pick(self.steps)))

    @property
    def steps(self) -> tuple[str, ...]:
        """Values of the type of the last variable."""
        return BOOLEAN if self.dtype == "bool" else STEPS

    def bind(self, value: str) -> None:
        """Bind `value`, in which `{0}` is the last variable."""
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {value.format(self.last, self.dims)}")
        self.last = name

    def _rm316(self) -> str:
        if self.choices.chance(50) or self.last == "x":
            self.bind(f'R.builtin.alloc_tensor(R.shape([{self.dims}]), R.dtype("{self.dtype}"), R.prim_value(0))')
        self.lines.append(f"_{len(self.lines)} = R.memory.kill_tensor({self.last})")
        self.bind(self.choices.pick(self.steps))
        return ""

    def _rm317(self) -> str:
        other = "int8" if self.dtype == "float32" else "float32"
        extent = f"{self.sizes[0] + 1}" + "".join(f", {size}" for size in self.sizes[1:])
        wrong = self.choices.pick((
            f'R.Tensor(({extent},), "{self.dtype}")',
            f'R.Tensor(({self.dims},), "{other}")',
            f'R.Tensor(({self.dims}, 1), "{self.dtype}")',
        ))  # fmt: skip
        call = self.choices.pick(("call_packed", "call_pure_packed"))
        name = f"v{len(self.lines)}"
        self.lines.append(f'{name}: {wrong} = R.{call}("vm.builtin.copy", {self.last}, ty_args=(R.Any,))')
        self.last = name
        return ""

    def _rm323(self) -> str:
        at = ", ".join("0" for _ in self.sizes)
        self.bind(f"R.call_tir(cls.copy, ({{0}},), out_ty={self.tensor})")
        return self.function("copy", f"A[{at}] = B[{at}]")

    def _rm324(self) -> str:
        self.bind(f"R.call_tir(cls.copy, ({{0}},), out_ty={self.tensor})")
        return self.function("copy", "", short_axis=self.choices.below(len(self.sizes)))

    def _rm328(self) -> str:
        variable = self.last
        if variable == "x" or self.choices.chance(30):
            self.bind(self.choices.pick(self.steps))
            variable = self.last
        at = ", ".join(f"i{axis}" for axis in range(len(self.sizes)))
        self.bind(f"R.call_tir_inplace(cls.same, ({{0}},), inplace_indices=[0], out_ty={self.tensor})")
        self.last = variable
        self.bind(self.choices.pick(self.steps))
        return self._declared("same", "A", f"A[{at}] = A[{at}]", [*self.sizes])

    def function(self, name: str, statement: str, *, short_axis: int | None = None) -> str:
        """A TensorIR function that copies, without the last index of `short_axis`; then `statement`."""
        at = ", ".join(f"i{axis}" for axis in range(len(self.sizes)))
        text = self._declared(name, "AB", f"B[{at}] = A[{at}]", [*self.sizes], short_axis)
        return f"{text}        {statement}\n" if statement else text

    def _declared(self, name: str, buffers: str, store: str, sizes: list[int], short_axis: int | None = None) -> str:
        extents = [self.first, *map(str, sizes[1:])]
        if short_axis is not None:
            extents[short_axis] += " - 1"
        shape = [f'"{self.first}"' if self.first == "n" else self.first, *map(str, sizes[1:])]
        params = ", ".join(f'{buffer}: T.Buffer(({", ".join(shape)},), "{self.dtype}")' for buffer in buffers)
        text = f"    @T.prim_func(s_tir=True)\n    def {name}({params}):\n"
        text += "        n = T.int64()\n" * (self.first == "n")
        for axis, extent in enumerate(extents):
            text += f"        {'    ' * axis}for i{axis} in range({extent}):\n"
        return f"{text}        {'    ' * len(extents)}{store}\n"


class _Threads:
    """A function with threads that copies through shared memory."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.dtype = choices.pick(DTYPES)
        self.threads = choices.pick((2, 3, 4, 8))
        self.blocks = choices.pick((1, 2, 3)) if choices.chance(30) else 0

    def case(self, aim: str) -> Case:
        size = self.threads * (self.blocks or 1)
        index = f"b * {self.threads} + t" if self.blocks else "t"
        condition = f"t < {1 + self.choices.below(self.threads - 1)}" if self.choices.chance(50) else "t % 2 == 0"
        sync = 'T.tvm_storage_sync("shared")'
        body = [f"S[t] = A[{index}]", f"if {condition}:", f"    {sync}"]
        if self.choices.chance(40):
            body += ["else:", f"    {sync}"]
        body.append(f"B[{index}] = S[t]")
        lines = [f'for t in T.thread_binding({self.threads}, thread="threadIdx.x"):', *(f"    {line}" for line in body)]
        if self.blocks:
            outer = f'for b in T.thread_binding({self.blocks}, thread="blockIdx.x"):'
            lines = [outer, *(f"    {line}" for line in lines)]
        params = ", ".join(f'{name}: T.Buffer(({size},), "{self.dtype}")' for name in "AB")
        text = f"{HEAD}@T.prim_func\ndef main({params}):\n"
        text += f'    S = T.alloc_buffer(({self.threads},), "{self.dtype}", scope="shared")\n'
        text += "".join(f"    {line}\n" for line in lines)
        module = read(text, "aimed.py")
        return Case(module, "main", (tuple(_array(self.choices, self.dtype, [size]) for _ in "AB"),), aim)


def _array(choices: Choices, dtype: str, sizes: list[int]) -> Array:
    row: DType = SCALARS[dtype]
    low, high = limits(row)
    return Array(row, tuple(sizes), choices.pick(WAYS), choices.below(1000), low, high)
