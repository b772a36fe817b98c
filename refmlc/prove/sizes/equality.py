"""Whether two TensorIR functions leave the same values, for all arguments and all sizes.

| shown                                                                                             | kind      |
|---------------------------------------------------------------------------------------------------|-----------|
| two instances of stores that write one place of a mapped buffer, or begin one fold, agree         | `value`   |
| nothing that begins a fold follows an update of the element; nothing reads it before the last one | `order`   |
| each place that the first program writes, the second writes too, and the other way                | `written` |
| the values that stand there match (`matching`)                                                    | `value`   |
| updates of an element correspond: an order-preserving map of iterations each way, matching terms  | `fold`    |
| obligations of the second program (`walk`), wherever the first one is defined                     |           |

Each map of iterations preserves a strict order, so it is injective; with one each way, finite sets have the same size,
and the map is a bijection.
"""

from collections.abc import Iterator, Sequence

import z3

from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.visit import walk
from refmlc.prove.obligations import Obligation
from refmlc.prove.proof import Proof, ProofKind
from refmlc.prove.sizes.accesses import SizedAccess, shared
from refmlc.prove.sizes.definitions import DefinitionWalk, SizedStore
from refmlc.prove.sizes.matching import Facts, Matcher, NotMatched, Read, SizedValue, StoreInstance, another, instances
from refmlc.prove.sizes.reach import Pairs, at_instance, lexicographic, solved
from refmlc.prove.terms import Undecided

SECONDS = 30.0
MILLISECONDS = 2000


def compared_for_all_sizes(
    before: IRModule,
    after: IRModule,
    func: str,
    limit: int,
    *,
    milliseconds: int = MILLISECONDS,
    seconds: float = SECONDS,
) -> Proof:
    """Whether `func` of `after` may stand for that of `before` for all sizes up to `limit`: proved or undecided.

    Units: milliseconds for each question to z3, seconds for all of them.
    """
    functions = [module.functions.get(func) for module in (before, after)]
    if not all(isinstance(function, tir.PrimFunc) for function in functions):
        return Proof(ProofKind.UNDECIDED, "a graph is not known for all sizes", limit=limit)
    try:
        first = DefinitionWalk(functions[0], limit)  # type: ignore[arg-type]
        second = DefinitionWalk(functions[1], limit, first)  # type: ignore[arg-type]
        matcher = Matcher(milliseconds, seconds, tuple(first.consequences()))
        matcher.require_possible(first.sizes_of_parameters)
        shown = _Equality(first, second, matcher).shown()
        shown += _defined(second, matcher)
    except (Undecided, NotMatched) as end:
        return Proof(ProofKind.UNDECIDED, end.reason, end.span, limit=limit)
    assumptions = ("tensors of the arguments do not overlap",) if len(first.parameters) > 1 else ()
    return Proof(ProofKind.PROVED, assumptions=assumptions, discharged=tuple(shown), limit=limit)


def _defined(program: DefinitionWalk, matcher: Matcher) -> list[Obligation]:
    """The obligations of a program, which hold wherever the first one is defined. Fails: NotMatched."""
    rows = []
    for each in program.obligations:
        if each.goal is None or not matcher.holds(each.conditions, each.goal):
            raise NotMatched(f"not shown for the second program: {each.text}", each.span)
        rows.append(Obligation(each.kind, None, frozenset(), each.text, each.span))
    return rows


class _Equality:
    """The proof that two programs are equal. Each method fails: NotMatched, Undecided."""

    def __init__(self, first: DefinitionWalk, second: DefinitionWalk, matcher: Matcher) -> None:
        self._programs = (first, second)
        self._matcher = matcher
        self._folds: dict[tuple[tir.Buffer, tir.Buffer], bool] = {}
        self._shown: list[Obligation] = []
        matcher.fold_match = self._match_folds

    def shown(self) -> list[Obligation]:
        """What is shown, if both programs are equal."""
        for program in self._programs:
            _require_order(program)
            for buffer in program.stores:
                self._consistent(program, buffer)
        first, second = self._programs
        for own, other in zip(first.parameters, second.parameters, strict=True):
            if isinstance(own, tir.Buffer) and isinstance(other, tir.Buffer):
                self._outputs(own, other)
        return self._shown

    def _note(self, kind: str, text: str, store: SizedStore) -> None:
        self._shown.append(Obligation(kind, None, frozenset(), text, store.span))

    # ------------------------------------------------------------------------------------- one program

    def _consistent(self, program: DefinitionWalk, buffer: tir.Buffer) -> None:
        """Require that a buffer is mapped or a fold."""
        definitions, update = _parts(program, buffer)
        for number, store in enumerate(definitions):
            for other in definitions[number:]:
                self._agree(program, store, other)
        if update is not None:
            self._fold_in_order(program, definitions, update)

    def _agree(self, program: DefinitionWalk, store: SizedStore, other: SizedStore) -> None:
        """Require that two stores that write one place write the same."""
        first, second = StoreInstance(program, store), another(StoreInstance(program, other), "'")
        facts = (*first.facts(), *second.facts(), _same(first.place(), second.place()))
        if store is other:
            variables = [each for frame in store.access.loops for each in frame.variables]
            if not variables:
                return
            facts = (*facts, z3.Or(*(each != second.of(each) for each in variables)))
        if not self._matcher.is_impossible(facts):
            self._matcher.match(SizedValue(store.node.value, first), SizedValue(other.node.value, second), facts)
        self._note("value", f"stores to one place of `{store.node.buffer.name}` agree", store)

    def _fold_in_order(self, program: DefinitionWalk, definitions: Sequence[SizedStore], update: SizedStore) -> None:
        """Require that a fold begins before its updates, updates its own element, and is read after them."""
        buffer = update.node.buffer
        own = {id(node) for node in walk(update.node.value) if isinstance(node, tir.BufferLoad)}
        for store in definitions:
            self._precede(program, store.access, update.access)
        for load in program.accesses:
            if load.buffer is not buffer or not isinstance(load.node, tir.BufferLoad):
                continue
            if id(load.node) in own and load.position[:-1] == update.access.position[:-1]:
                if not self._matcher.holds(load.conditions, _same(load.indices, update.access.indices)):
                    raise NotMatched(f"`{buffer.name}` is updated from another element", load.node.span)
            else:
                self._precede(program, update.access, load)
        self._note("order", f"updates of `{buffer.name}` stand between its beginning and its reads", update)

    def _precede(self, program: DefinitionWalk, early: SizedAccess, late: SizedAccess) -> None:
        """Require that no instance of `late` comes before one of `early` at the same place."""
        frames, order = shared(early, late)
        since = late.loops[0].made if late.loops else len(program.made)
        pairs = [(each, z3.Const(f"{each}'", each.sort())) for each in program.made[since:]]
        steps = [(each, z3.substitute(each, *pairs)) for frame in frames for each in frame.variables]
        ahead = lexicographic(steps)
        if order < 0:
            ahead = z3.Or(ahead, z3.And(*(a == b for a, b in steps)))
        moved = [z3.substitute(each, *pairs) for each in (*late.conditions, *late.indices)]
        count = len(late.conditions)
        facts = (*early.conditions, *moved[:count], _same(early.indices, moved[count:]))
        if not self._matcher.holds(facts, ahead):
            raise NotMatched(f"an update of `{early.buffer.name}` may not be in order", late.node.span)

    # ------------------------------------------------------------------------------------ two programs

    def _outputs(self, own: tir.Buffer, other: tir.Buffer) -> None:
        """Require that the programs leave the same in a parameter."""
        first, second = self._programs
        written = [program.stores.get(buffer, []) for program, buffer in ((first, own), (second, other))]
        if not any(written):
            return
        for program, buffer in ((first, own), (second, other)):
            shown = program.shows_written(buffer)
            is_open = any(each.goal is None or not self._matcher.holds(each.conditions, each.goal) for each in shown)
            if is_open or program.reads_of_caller(buffer):
                raise NotMatched(f"`{buffer.name}` may be read before it is written", buffer.span)
        for store in _parts(first, own)[0]:
            instance = StoreInstance(first, store)
            place = instance.place()
            self._matcher.match(Read(first, own, place), Read(second, other, place), instance.facts())
            self._note("value", f"`{own.name}` and `{other.name}` have the same values", store)
        self._covered(second, other, first, own)

    def _covered(self, program: DefinitionWalk, buffer: tir.Buffer, by: DefinitionWalk, other: tir.Buffer) -> None:
        """Require that each place that a program writes is written by another one."""
        for store in _parts(program, buffer)[0]:
            instance = StoreInstance(program, store)
            read = Read(by, other, instance.place())
            ways = [way for each in _parts(by, other)[0] for _, way in instances(read, each)]
            if not ways or not self._matcher.holds(instance.facts(), z3.Or(*ways)):
                raise NotMatched(f"`{buffer.name}` may be written where the other program does not", store.span)
            self._note("written", f"both programs write the same places of `{buffer.name}`", store)

    def _match_folds(self, a: Read, b: Read) -> None:
        """Require that the elements of two folds are equal, place by place."""
        if a.program is b.program and a.buffer is b.buffer:
            return
        key = (a.buffer, b.buffer)
        if key not in self._folds:
            self._folds[key] = False  # a fold in terms of itself
            self._equal_folds(a, b)
            self._folds[key] = True
        if not self._folds[key]:
            raise NotMatched(f"`{a.buffer.name}` is not shown to be `{b.buffer.name}`", a.buffer.span)

    def _equal_folds(self, a: Read, b: Read) -> None:
        begins, update = _parts(a.program, a.buffer)
        others, other = _parts(b.program, b.buffer)
        if update is None or other is None:
            raise NotMatched(f"`{a.buffer.name}` is a fold, `{b.buffer.name}` is not, or the other way", a.buffer.span)
        for store in begins:
            self._begins_alike(StoreInstance(a.program, store), b, others)
        self._covered(b.program, b.buffer, a.program, a.buffer)
        for guess in guesses(update, a.program, other, b.program):
            try:
                self._bijection(StoreInstance(a.program, update), StoreInstance(b.program, other), guess)
            except NotMatched as end:
                problem = end
            else:
                self._note("fold", f"`{a.buffer.name}` and `{b.buffer.name}` are the same fold", update)
                return
        raise problem

    def _begins_alike(self, instance: StoreInstance, b: Read, others: Sequence[SizedStore]) -> None:
        """Require that elements of a fold begin with what those of another one begin with."""
        value = SizedValue(instance.store.node.value, instance)
        cases = self._matcher.writes(Read(b.program, b.buffer, instance.place()), others)

        def match(part: SizedValue | Read, facts: Facts) -> None:
            self._matcher.match(value, part, facts)

        self._matcher.each(cases, instance.facts(), match)

    def _bijection(self, a: StoreInstance, b: StoreInstance, guess: "tuple[Pairs, Pairs]") -> None:
        """Require that updates of an element correspond in order, and that their terms match."""
        forth, back = guess
        image = b.moved(forth)
        self._monotone(a, b, forth)
        self._monotone(b, a, back)
        self._matcher.match(SizedValue(a.store.node.value, a), SizedValue(b.store.node.value, image), a.facts())

    def _monotone(self, a: StoreInstance, b: StoreInstance, pairs: Pairs) -> None:
        """Require that iterations of `a` become iterations of `b` at the same place, and stay in order."""
        way = at_instance(b.store.access, pairs, a.place())
        if not self._matcher.holds(a.facts(), way):
            raise NotMatched(f"updates of `{a.store.node.buffer.name}` do not correspond", a.store.span)
        later = another(a, "'")
        steps = [(each, later.of(each)) for frame in a.store.access.loops for each in frame.variables]
        images = [z3.substitute(each, *pairs) for frame in b.store.access.loops for each in frame.variables]
        facts = (*a.facts(), *later.facts(), _same(a.place(), later.place()), lexicographic(steps))
        goal = lexicographic([(each, later.of(each)) for each in images])
        if not self._matcher.holds(facts, goal):
            raise NotMatched(f"updates of `{a.store.node.buffer.name}` have another order", a.store.span)


def guesses(
    a: SizedStore, first: DefinitionWalk, b: SizedStore, second: DefinitionWalk
) -> "Iterator[tuple[Pairs, Pairs]]":
    """Maps of iterations each way: equal axes of blocks, then equal places of loads at the same position."""
    places = list(zip(a.access.indices, b.access.indices, strict=True))
    axes = list(zip(a.axes, b.axes, strict=True)) if len(a.axes) == len(b.axes) else []
    loads = [
        pair
        for own, other in zip(_loads(a, first), _loads(b, second), strict=False)
        if len(own) == len(other)
        for pair in zip(own, other, strict=True)
    ]
    loops = list(
        zip(*([each for frame in store.access.loops for each in frame.variables] for store in (a, b)), strict=False)
    )
    for pairs in (axes, loads, loops):
        equations = [*places, *pairs]
        yield (
            solved(b.access, 0, [(other, own) for own, other in equations], second.made),
            solved(a.access, 0, equations, first.made),
        )


def _loads(store: SizedStore, program: DefinitionWalk) -> list[tuple["z3.ArithRef", ...]]:
    """The indices of the loads in a value, in order."""
    own = {id(node): None for node in walk(store.node.value) if isinstance(node, tir.BufferLoad)}
    position = store.access.position[:-1]
    return [each.indices for each in program.accesses if id(each.node) in own and each.position[:-1] == position]


def _parts(program: DefinitionWalk, buffer: tir.Buffer) -> tuple[list[SizedStore], SizedStore | None]:
    """The stores that begin the elements of a buffer, and the one that updates them. Fails: NotMatched for two."""
    stores = program.stores.get(buffer, [])
    updates = [store for store in stores if store.loads_itself()]
    if len(updates) > 1:
        raise NotMatched(f"several stores update `{buffer.name}`", updates[1].span)
    return [store for store in stores if not store.loads_itself()], updates[0] if updates else None


def _require_order(program: DefinitionWalk) -> None:
    """Require that values of buffers do not depend on each other in a circle. Fails: NotMatched."""
    reads = {
        buffer: {
            node.buffer
            for store in stores
            for node in walk(store.node)
            if isinstance(node, tir.BufferLoad) and node.buffer is not buffer and node.buffer in program.stores
        }
        for buffer, stores in program.stores.items()
    }
    while reads:
        ready = [buffer for buffer, others in reads.items() if not others & reads.keys()]
        if not ready:
            raise NotMatched(f"values of `{next(iter(reads)).name}` depend on each other in a circle")
        for buffer in ready:
            del reads[buffer]


def _same(a: Sequence["z3.ArithRef"], b: Sequence["z3.ArithRef"]) -> "z3.BoolRef":
    return z3.And(*(i == j for i, j in zip(a, b, strict=True)))
