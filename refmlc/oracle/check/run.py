"""`check`: run every function of a module on several calls, first its meaning, then each implementation."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE, CODES
from refmlc.diag.entry import entry_point
from refmlc.frontends.programs import Program, as_module
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.reach import reachable
from refmlc.lang.ir.threads import implies_barriers
from refmlc.observe.sanitize.kinds import ALL
from refmlc.oracle.arguments import CallLimits
from refmlc.oracle.arguments.trial import USUAL_BUDGET
from refmlc.oracle.check.causes import FunctionResult
from refmlc.oracle.check.program import CallRequest, checked_program, known_function, public
from refmlc.oracle.check.proofs import with_proofs
from refmlc.oracle.check.report import CheckReport
from refmlc.oracle.contracts.assumptions import written
from refmlc.oracle.exact.against import REFERENCE, held
from refmlc.oracle.examine import Examination, examine
from refmlc.oracle.implementations.implementation import Implementation, Limits, short_name
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.lookup import implementation
from refmlc.oracle.non_finite import first_birth, with_birth

DEFAULT_PATHS = ("native:guarded", "native")
PER_RUN = Limits(seconds=60.0, clock=True)
THROUGH_C = "the meaning of {calls} calls came through guarded C (NAT-001): the interpreter alone takes too long"
IMPLIED = "the text has no barrier; it runs with the barriers that ThreadSync inserts (TIR-229); see `--as-written`"


@dataclass(frozen=True)
class CheckOptions:
    """Options of a check.

    `kinds` are the sanitizer codes to detect; after those of `allow` the program continues, as hardware does.
    `pairs`: variants of each program are run too. `strict`: lints are findings. `as_written`: no barrier is
    implied where threads share memory and the text holds none (TIR-229). `named`: the caller named implementations.
    `against`: "reference" holds them to the exact definition of each operator too (`refmlc.oracle.exact`).
    `finite`: a result that is not finite, of finite arguments, is a finding.
    `compiles_from`: after that many iterations guarded C executes the meaning; None: the interpreter does all of it.
    `orders`: how many orders of the threads of a kernel are tried (TIW-012).
    """

    request: CallRequest = field(default_factory=CallRequest)
    limits: Limits = PER_RUN
    kinds: Collection[str] = ALL
    allow: frozenset[str] = frozenset()
    pairs: bool = True
    strict: bool = False
    as_written: bool = False
    named: bool = False
    against: str = ""
    finite: bool = False
    compiles_from: int | None = None
    orders: int = 1

    def __post_init__(self) -> None:
        """Fails: RM112 for a code of `allow` that is none of undefined behaviour, and for another `against`."""
        if self.against not in ("", REFERENCE):
            raise fail(BAD_USAGE, f"`against` is `{REFERENCE}`, not `{self.against}`")
        for code in sorted(self.allow):
            if code not in CODES or not code.startswith("RM3"):
                raise fail(BAD_USAGE, f"`{code}` is not a code of undefined behaviour (RM3xx)")


@entry_point
def check(  # noqa: PLR0913 - each is a choice of its own
    program: Program,
    func: str | None = None,
    *,
    inputs: Mapping[str, object] | None = None,
    dims: Mapping[str, int] | None = None,
    implementations: Sequence[str | Implementation] = DEFAULT_PATHS,
    calls: int | None = None,
    seed: int = 0,
    budget: float = USUAL_BUDGET,
    limits: Limits = PER_RUN,
    kinds: Collection[str] = ALL,
    allow: Collection[str] = (),
    pairs: bool = True,
    strict: bool = False,
    as_written: bool = False,
    against: str = "",
    assume: str | Collection[str] = (),
    finite: bool = False,
    orders: int = 1,
) -> CheckReport:
    """Run each function of `program` on several calls and compare implementations: `refmlc check`.

    `program` is anything that `refmlc.frontends.programs` accepts; `func` one of its functions, else every public one.
    refmlc generates the arguments missing from `inputs` and `dims`: calls for every purpose (`oracle.arguments`) that
    the program has, at most `calls`, as far as `budget` (seconds, about) reaches; `seed` adds random ones. An
    implementation is an object or a name as in `--impl`. `as_written`: no barrier is added if threads share memory and
    the text has none (TIR-229).
    `against="reference"`: implementations are held to the exact definition of each operator of Relax too (RM709).
    `assume`: contracts that arguments satisfy (`oracle.contracts.language`). `finite`: a result that is not finite, of
    finite arguments, is a finding (RM710). `orders`: how many orders of the threads of a kernel are tried.
    The report prints as a table, and has `findings`, `ok`, `to_json()`.
    Fails: RM1xx, RM2xx for an invalid module; RM111, RM112 for an invalid argument of this function.
    """
    module = as_module(program)
    request = CallRequest(inputs or {}, {}, dims or {}, CallLimits(calls, seed, budget), written(assume, module))
    if (inputs or dims) and func is None:
        raise fail(BAD_USAGE, "`inputs` and `dims` are for one function: give `func` too")
    choices = CheckOptions(
        request, limits, kinds or ALL, frozenset(allow), pairs=pairs, strict=strict, as_written=as_written
    )
    choices = replace(choices, named=implementations is not DEFAULT_PATHS, against=against, finite=finite)
    choices = replace(choices, orders=orders)
    with ExitStack() as stack:
        paths = [_opened(path, limits, stack) for path in implementations]
        rows = tuple(examined(module, name, choices, paths) for name in functions(module, func))
        return CheckReport(_title(program, module), rows, shown_names(paths), strict, choices.named)


def functions(module: IRModule, func: str | None) -> list[str]:
    """The names of the functions to check. Fails: RM112."""
    return [known_function(module, func)] if func else public(module)


def examined(
    module: IRModule,
    name: str,
    choices: CheckOptions,
    paths: Sequence[Implementation],
    progress: Callable[[str], None] = lambda _what: None,
) -> FunctionResult:
    """Check one function, or report why no call can be made. `progress`: as `examine` has it.

    Fails: RM111, RM112 for invalid explicit arguments.
    """
    limits, allow, request = choices.limits, choices.allow, choices.request
    try:
        interp = Interp(limits, allow=allow, as_written=choices.as_written, compiles_from=choices.compiles_from)
        program, trial = checked_program(module, name, request, interp)
        program = replace(program, as_written=choices.as_written, allow=allow, orders=choices.orders)
    except RefmlcError as failure:
        if request.inputs or request.dims or request.params:
            raise
        return FunctionResult(name, problem=failure.diagnostic)
    examination = examine(
        [program],
        paths,
        kinds=choices.kinds,
        limits=limits,
        pairs=choices.pairs,
        allow=allow,
        as_written=choices.as_written,
        compiles_from=choices.compiles_from,
        orders=choices.orders,
        ends=[trial.ends],
        progress=progress,
    )[0]
    examination, pairs = with_proofs(examination, paths, interp) if choices.pairs and not allow else (examination, ())
    if choices.against:
        progress("reference")
        examination = held(examination, paths, Interp(limits, allow=allow, as_written=choices.as_written))
    notes = [] if choices.as_written else list(_implied(module, name))
    if choices.finite:
        examination = with_birth(examination)
    elif (born := first_birth(examination)) is not None:
        notes.append(f"{name}: {born}")
    notes += [*_through_c(name, examination), *_of_orders(name, examination)]
    return FunctionResult(name, program, examination, trial, notes=tuple(notes), pairs=pairs)


def _of_orders(name: str, examination: Examination) -> Iterator[str]:
    """The notes on the orders of threads that were tried."""
    tried = Counter(reference.orders for reference in examination.reference if reference.orders)
    yield from (f"{name}: {text} (in {count} calls)" for text, count in tried.items())


def _through_c(name: str, examination: Examination) -> Iterator[str]:
    """The note on calls whose meaning guarded C executed."""
    count = sum(reference.compiled_calls > 0 for reference in examination.reference)
    if count:
        yield f"{name}: {THROUGH_C.format(calls=f'{count} of {len(examination.reference)}')}"


def _implied(module: IRModule, name: str) -> Iterator[str]:
    """The note on each function whose threads share memory without a barrier (TIR-229)."""
    for each, function in reachable(module, name).functions.items():
        if isinstance(function, tir.PrimFunc) and implies_barriers(function):
            yield f"{each}: {IMPLIED}"


def shown_names(paths: Sequence[Implementation]) -> dict[str, str]:
    """Short names of implementations: without folders; with version or path if two are of the same kind."""
    names = dict.fromkeys(path.name for path in paths)
    says = {path.name: getattr(path, "says", {}) for path in paths}
    short = {name: short_name(name) for name in names}
    versioned = {name: _versioned(kind, says[name]) for name, kind in short.items()}
    kinds, versions = Counter(short.values()), Counter(versioned.values())
    return {
        name: kind if kinds[kind] == 1 else _version_or_rest(name, kind, versioned[name], versions)
        for name, kind in short.items()
    }


def _versioned(kind: str, says: Mapping[str, object]) -> str:
    """The kind with the version that an implementation says: in its name, as TVM does, or beside it."""
    name = str(says.get("name", ""))
    return name if name.startswith(f"{kind} ") else f"{kind} {says.get('version', '')}".rstrip()


def _version_or_rest(name: str, kind: str, versioned: str, versions: Counter[str]) -> str:
    """The version if it is unique among implementations of the kind, else the rest of the name."""
    return versioned if versions[versioned] == 1 and versioned != kind else f"{kind} ({name.partition(':')[2]})"


def _opened(path: str | Implementation, limits: Limits, stack: ExitStack) -> Implementation:
    return stack.enter_context(closing(implementation(path, limits, kept=True))) if isinstance(path, str) else path


def _title(program: object, module: IRModule) -> str:
    """The report's title for the program."""
    if isinstance(program, PathLike) or (isinstance(program, str) and "\n" not in program):
        return Path(program).name
    return module.name
