"""The comparison rule of each part of a result, computed lazily: bits first, a certificate only if they differ.

| part                                                      | rule                                                    |
|-----------------------------------------------------------|---------------------------------------------------------|
| of an implementation that promises the interpreter's bits | those bits                                              |
| an argument that the program leaves as it was             | its bits: it must not be changed                        |
| of a program without operators that round                 | the bits                                                |
| a number, a shape, a name                                 | the same value                                          |
| a tensor                                                  | the certified bound; none where refmlc cannot prove one |
"""

from collections.abc import Sequence

from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.ir.reach import reachable
from refmlc.observe.bounds import certify
from refmlc.observe.bounds.certify import CertifiedTensor
from refmlc.observe.bounds.exactness import only_exact
from refmlc.observe.bounds.freedom import Freedom
from refmlc.oracle.parts import Part
from refmlc.oracle.program import Program
from refmlc.oracle.rule import Exact, Rule, chosen
from refmlc.oracle.values import bits
from refmlc.rewrite.transform import legalize_ops
from refmlc.run.memory.tensor import Tensor

OTHERS = Freedom(ulps=4.0)
"""Additional freedom of other implementations. Decision: an implementation may call the platform's float32 functions,
which are documented to a few ulp (NUM-506, mode `libm`); TVM's default build does."""


class Certificates:
    """The rules for the parts of one call. `parts` are those of the reference."""

    def __init__(self, program: Program, number: int, parts: Sequence[Part], freedom: Freedom = OTHERS) -> None:
        self._freedom = freedom
        self._program = program
        self._number = number
        self._parts = parts
        self._certified: dict[int, CertifiedTensor] | None = None
        self.problem = ""
        """The reason for a missing certificate."""

    @property
    def exact(self) -> bool:
        """Whether no operator of the program rounds, so that its bits are the only result.

        Of Relax its certificate says so, which also looks at what is called from outside.
        """
        module, func = self._program.module, self._program.func
        return isinstance(module.functions[func], tir.PrimFunc) and only_exact(reachable(module, func))

    def rule(self, at: int) -> Rule | None:
        """The rule for part `at`; None: refmlc cannot say what is permitted."""
        if self.exact or self._unchanged(self._parts[at]):
            return Exact()
        certified = self._found().get(at)
        return None if certified is None else chosen(certified)

    def certified(self, at: int) -> CertifiedTensor | None:
        """The certificate of part `at`, if one was made."""
        return None if self._certified is None else self._certified.get(at)

    def _unchanged(self, part: Part) -> bool:
        """Whether the part is an argument that the reference left as it was."""
        if part.argument is None:
            return False
        before = self._program.arguments(self._number)[part.argument]
        return not isinstance(before, Tensor) or (before.initialised and bits(before) == bits(part.value))

    def _found(self) -> dict[int, CertifiedTensor]:
        if self._certified is None:
            self._certified = self._certify()
        return self._certified

    def _certify(self) -> dict[int, CertifiedTensor]:
        program = self._program
        try:
            arguments, module = program.arguments(self._number), legalize_ops(program.module)
            outputs = certify(module, program.func, arguments, freedom=self._freedom).outputs
        except RefmlcError as failure:
            self.problem = f"no bound: {failure.diagnostic.message}"
            return {}
        in_place = isinstance(program.module.functions[program.func], tir.PrimFunc)
        return _matched(self._parts, outputs, in_place=in_place)


def _matched(
    parts: Sequence[Part], outputs: Sequence[CertifiedTensor], *, in_place: bool
) -> dict[int, CertifiedTensor]:
    """Which part each output is: both are in the order of the parameters, or of the result."""
    places = [
        at
        for at, part in enumerate(parts)
        if isinstance(part.value, Tensor) and (part.argument is not None) == in_place
    ]
    certified: dict[int, CertifiedTensor] = {}
    left = list(outputs)
    for at in places:
        part = parts[at]
        if left and _is(part, left[0], in_place=in_place):
            certified[at] = left.pop(0)
    return certified if not left else {}


def _is(part: Part, output: CertifiedTensor, *, in_place: bool) -> bool:
    """Whether `output` is `part`: by its name where it is a parameter, by order where it is returned."""
    tensor = part.value
    if not isinstance(tensor, Tensor) or tensor.shape != output.shape:
        return False
    return not in_place or part.label == f"`{output.name}`"
