"""The commands for threads: which there are, which one is shown and stepped, which waits for which."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from refmlc.debug.session_data import Reason, Stop
from refmlc.debug.terminal import show
from refmlc.debug.terminal.prompt_state import PromptState, count, number
from refmlc.debug.terminal.thread_text import barrier_line, place, threads_text, waiting_text
from refmlc.debug.thread_data import ThreadState, named
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.run.interp.threads.group import WARP

NO_THREADS = "no threads take turns here: step into a kernel, or set a breakpoint in one"

OTHERS = (Reason.BREAKPOINT, Reason.FUNCTION, Reason.DATA, Reason.NUMBER, Reason.DIFFERENCE, Reason.PAUSE)


def listing(state: PromptState, argument: str) -> str:
    """List the threads of the block; threads in the same state share a line."""
    threads = state.session.threads()
    if argument:
        warp = number(argument, 0, "a warp")
        threads = [thread for thread in threads if thread.warp == warp]
    return threads_text(threads, state.session.thread) if threads else _none(state)


def _none(state: PromptState) -> str:
    thread = state.session.thread
    return NO_THREADS if thread is None else f"thread {thread} runs, and the threads do not wait for each other"


def select(state: PromptState, argument: str) -> str:
    """Show and follow another thread; alone: the one that runs."""
    state.followed = frozenset()
    if not argument:
        state.session.select_thread()
        return _selected(state)
    thread = number(argument, 0, "a thread")
    state.session.select_thread(thread)
    state.followed = frozenset([thread])
    return _selected(state)


def select_warp(state: PromptState, argument: str) -> str:
    """Show the first thread of a warp that has not ended, and follow them all."""
    if not argument:
        raise fail(BAD_USAGE, "`warp` needs the number of a warp")
    warp = number(argument, 0, "a warp")
    members = [thread for thread in state.session.threads() if thread.warp == warp]
    if not members:
        raise fail(BAD_USAGE, f"there is no warp {warp} here")
    first = next((thread for thread in members if thread.state != "ended"), members[0])
    state.session.select_thread(first.number)
    state.followed = frozenset(thread.number for thread in members)
    return "\n".join([threads_text(members, first.number), _selected(state)])


def _selected(state: PromptState) -> str:
    """Where the selected thread stands."""
    state.reset()
    thread = state.session.thread
    if thread is None:
        return NO_THREADS
    frames = state.session.frames()
    span = frames[0].span if frames else None
    title = f"> {place(span)} thread {thread} (warp {thread // WARP}, lane {thread % WARP}){_state(state, thread)}"
    return "\n".join([title, *show.context(state.session, span)])


def _state(state: PromptState, number: int) -> str:
    threads: Sequence[ThreadState] = [thread for thread in state.session.threads() if thread.number == number]
    return "".join(f" {thread.state}{f': {thread.waits_for}' if thread.waits_for else ''}" for thread in threads)


def waits(state: PromptState, _argument: str) -> str:
    """Show which thread waits for which."""
    return waiting_text(state.session.waiting()) or "no thread waits"


def barriers(state: PromptState, _argument: str) -> str:
    """Show the barriers."""
    return "\n".join(map(barrier_line, state.session.barriers())) or "no barrier is in use"


def _followed(state: PromptState) -> frozenset[int]:
    """The threads to step: those chosen, or the one that runs. Fails: RM112."""
    thread = state.session.thread
    if state.followed or thread is None:
        return state.followed
    return frozenset([thread])


def _step(state: PromptState, argument: str) -> Stop:
    followed = _followed(state)
    stop = state.session.step_thread(followed, count(argument))
    if stop.reason not in OTHERS or state.session.thread in followed:
        return stop
    note = f"the step of {named(sorted(followed))} has not ended: `tstep` continues it"
    return replace(stop, note="\n".join(part for part in (stop.note, note) if part))


def _step_back(state: PromptState, argument: str) -> Stop:
    return state.session.step_thread_back(_followed(state), count(argument))


HANDLERS: Mapping[str, Callable[[PromptState, str], str]] = {
    "threads": listing,
    "thread": select,
    "warp": select_warp,
    "waits": waits,
    "barriers": barriers,
}
MOTIONS: Mapping[str, Callable[[PromptState, str], Stop]] = {"tstep": _step, "rtstep": _step_back}
