"""A stateful test: a client moves a program by requests, the same moves are made with the session itself; both agree.

After each move: why it stopped, the frames with their lines, every variable of every frame, every element.
"""

import sys
from base64 import b64decode
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "debug"))

import numpy as np
from dap_client import joined
from dap_programs import KINDS, launcher, program
from dap_words import CONDITIONS, FILTERS, HITS, PREFIX, WORDS, equal

from refmlc.debug import FrameKind, Reason, Session
from refmlc.debug.tensors import page
from refmlc.diag import RefmlcError
from refmlc.run.memory.tensor import Tensor


class Machine(RuleBasedStateMachine):
    """One session of each."""

    client = None
    moves = sequences = 0
    connect = staticmethod(lambda: joined(launcher))
    vanishes = False

    def __init__(self):
        super().__init__()
        self.limit = sys.getrecursionlimit()  # two programs that are executed in turns leave that of the other

    @initialize(kind=st.sampled_from(sorted(KINDS)), first=st.sampled_from([0, 1]), entry=st.booleans())
    def begin(self, kind, first, entry):
        self.kind, self.first = KINDS[kind], first
        self.name = f"{kind}.tvm"
        self.lines = len(self.kind.text.splitlines())
        self.said = []
        self.direct = Session(program(kind, self.said.append))
        self.direct.failures = frozenset({"undefined", "trap"} | FILTERS["other"])
        self.client, self.thread = self.connect()
        self.heard = []
        self.ask("initialize", adapterID="test", linesStartAt1=bool(first), supportsVariablePaging=True)
        self.ask("launch", program=kind, stopOnEntry=entry, stopAtEnd=True)
        self.client.event("initialized")
        source = self.ask("loadedSources")["sources"]
        self.source = next(one for one in source if one["name"] == self.name)
        assert self.ask("source", sourceReference=self.source["sourceReference"])["content"] == self.kind.text
        self.mine = {"lines": [], "names": [], "data": {}, "caught": []}
        self.ids = {}
        self.entry = entry
        self.ask("configurationDone")
        stop = self.direct.start()
        if not entry and stop.reason is Reason.ENTRY:
            self.direct.resume()
        self.compare()

    def ask(self, command, **given):
        found = self.client.ask(command, given)
        self.hear()
        return found

    def hear(self):
        for one in self.client.events:
            if one["event"] == "output" and one["body"]["category"] == "stdout":
                self.heard.append(one["body"]["output"].rstrip("\n"))

    # -------------------------------------------------------------------------------------------- moving

    def move(self, command, direct, **given):
        """Move both; a move that the session refuses is to be refused."""
        try:
            direct()
        except RefmlcError:
            assert self.client.refused(command, given)
            self.client.events.clear()
            return
        self.ask(command, **given)
        self.compare()

    def compare(self, reason="", text=None):
        """Both stand at the same place. `reason`, `text`: what the server says of it, where that is its own."""
        stop = self.direct.stop
        seen = None
        while seen is None:
            while self.client.events:
                one = self.client.events.pop(0)
                if one["event"] == "output" and one["body"]["category"] == "stdout" and one is not None:
                    self.heard.append(one["body"]["output"].rstrip("\n"))
                assert one["event"] != "terminated"
                if one["event"] == "stopped":
                    seen = one["body"]
            if seen is None:
                message = self.client.next()
                assert message["type"] == "event", message
                self.client.events.append(message)
        type(self).moves += 1
        due = "ended" if stop.reason is Reason.ENDED else reason or WORDS.get(stop.reason, stop.reason.value)
        assert seen["reason"] == due
        if text is not None:
            assert seen.get("text", "") == text
        elif stop.reason is not Reason.ENDED:
            assert seen.get("text", "") == "; ".join(part for part in (stop.text, stop.note) if part)
            assert set(seen.get("hitBreakpointIds", ())) == {self.ids[one] for one in stop.hits}
        self.look()

    def look(self):
        frames = self.direct.frames()
        shown = self.ask("stackTrace", threadId=1)["stackFrames"]
        if not frames:
            assert [one["name"] for one in shown] == [f"{self.kind.func} (ended)"]
            return
        assert [one["name"] for one in shown] == [
            f"{PREFIX.get(one.kind, '')}{one.name}{f' ({one.detail})' if one.detail else ''}" for one in frames
        ]
        lines = [0 if one.span is None else one.span.line - 1 + self.first for one in frames]
        assert [one["line"] for one in shown] == lines
        for frame, row in zip(frames, shown, strict=True):
            scope = self.ask("scopes", frameId=row["id"])["scopes"][0]["variablesReference"]
            rows = self.ask("variables", variablesReference=scope)["variables"]
            variables = self.direct.variables(frame.index)
            assert [one["name"] for one in rows] == [one.name for one in variables]
            for one, there in zip(variables, rows, strict=True):
                self.same(one, there)
        self.frames = [one["id"] for one in shown]

    def same(self, variable, row):
        if isinstance(variable.value, Tensor) and variable.bound:
            found = self.ask("variables", variablesReference=row["variablesReference"], filter="indexed")["variables"]
            due = page(variable.value, 0, 10_000)
            kind = str(variable.value.dtype)
            assert [one["name"] for one in found] == [f"[{', '.join(map(str, index))}]" for index in due.indices]
            assert all(equal(one["value"], value, kind) for one, value in zip(found, due.values, strict=True))
        elif variable.bound and isinstance(variable.value, bool | int | float):
            assert equal(row["value"].removesuffix("  [edited]"), variable.value, variable.dtype)

    def on(self):
        return self.client is not None

    def going(self):
        return self.client is not None and not self.direct.ended

    @precondition(going)
    @rule()
    def proceed(self):
        self.move("continue", self.direct.resume, threadId=1)

    @precondition(going)
    @rule(fine=st.booleans())
    def over(self, fine):
        more = {"granularity": "instruction"} if fine else {}
        self.move("next", self.direct.step_in if fine else self.direct.step_over, threadId=1, **more)

    @precondition(going)
    @rule()
    def into(self):
        self.move("stepIn", self.direct.step_in, threadId=1)

    @precondition(going)
    @rule()
    def out(self):
        self.move("stepOut", self.direct.step_out, threadId=1)

    @precondition(going)
    @rule(pick=st.integers(0, 5))
    def into_target(self, pick):
        frames = self.direct.frames()
        loops = [one.name for one in frames if one.kind is FrameKind.LOOP and one.level == frames[0].level]
        moves = [self.direct.step_in, self.direct.next_block]
        moves += [lambda name=name: self.direct.next_iteration(name) for name in dict.fromkeys(loops)]
        targets = self.ask("stepInTargets", frameId=self.frames[0])["targets"]
        assert len(targets) == len(moves)
        pick %= len(moves)
        self.move("stepIn", moves[pick], threadId=1, targetId=targets[pick]["id"])

    @precondition(on)
    @rule(fine=st.booleans())
    def back(self, fine):
        more = {"granularity": "instruction"} if fine else {}
        self.move("stepBack", self.direct.step_back if fine else self.direct.step_back_over, threadId=1, **more)

    @precondition(on)
    @rule()
    def reverse(self):
        self.move("reverseContinue", self.direct.reverse_resume, threadId=1)

    @precondition(going)
    @rule(pick=st.integers(0, 5))
    def enter_again(self, pick):
        pick %= len(self.frames)
        self.move("restartFrame", lambda: self.direct.restart_frame(pick), frameId=self.frames[pick])

    @precondition(on)
    @rule()
    def restart(self):
        def again():
            stop = self.direct.restart()
            if not self.entry and stop.reason is Reason.ENTRY:
                self.direct.resume()

        self.move("restart", again)

    # --------------------------------------------------------------------------------------- breakpoints

    def clear(self, kind):
        for number in self.mine[kind]:
            self.direct.remove(number)
            self.ids.pop(number)
        self.mine[kind] = []

    def arm(self, kind, make, hits, shown):
        """Make one directly, and hold what the server said of it to that."""
        if HITS[hits] is None:
            assert not shown["verified"]
            return
        ignore, exactly = HITS[hits]
        try:
            one = make(ignore, exactly)
        except RefmlcError:
            assert not shown["verified"]
            return
        self.mine[kind].append(one.number)
        self.ids[one.number] = shown["id"]
        assert shown["verified"] == one.verified
        if one.verified and one.line:
            assert shown["line"] == one.line - 1 + self.first

    rows = st.lists(
        st.tuples(st.integers(1, 20), st.sampled_from(CONDITIONS), st.sampled_from(sorted(HITS)), st.booleans()),
        max_size=3,
    )

    @precondition(on)
    @rule(rows=rows)
    def at_lines(self, rows):
        asked = [
            {
                "line": line - 1 + self.first,
                "condition": condition,
                "hitCondition": hits,
                **({"logMessage": "at {i}"} if log else {}),
            }
            for line, condition, hits, log in rows
        ]
        found = self.ask("setBreakpoints", source=self.source, breakpoints=asked)["breakpoints"]
        self.clear("lines")
        for (line, condition, hits, log), shown in zip(rows, found, strict=True):
            self.arm(
                "lines",
                lambda ignore, exactly, line=line, condition=condition, log=log: self.direct.break_line(
                    line, self.name, condition=condition, ignore=ignore, exactly=exactly, log="at {i}" if log else ""
                ),
                hits,
                shown,
            )

    @precondition(on)
    @rule(picks=st.lists(st.integers(0, 9), max_size=2), condition=st.sampled_from(CONDITIONS))
    def at_names(self, picks, condition):
        names = [self.kind.names[pick % len(self.kind.names)] for pick in picks]
        asked = [{"name": name, "condition": condition} for name in names]
        found = self.ask("setFunctionBreakpoints", breakpoints=asked)["breakpoints"]
        self.clear("names")
        for name, shown in zip(names, found, strict=True):
            self.arm("names", lambda *_, name=name: self.direct.break_name(name, condition=condition), "", shown)

    @precondition(on)
    @rule(names=st.lists(st.sampled_from(sorted(FILTERS)), max_size=4, unique=True))
    def at_exceptions(self, names):
        found = self.ask("setExceptionBreakpoints", filters=names)["breakpoints"]
        self.clear("caught")
        kinds = set()
        for name, shown in zip(names, found, strict=True):
            if FILTERS[name] is None:
                self.arm("caught", lambda *_, name=name: self.direct.catch(name), "", shown)
            else:
                kinds |= FILTERS[name]
        self.direct.failures = frozenset(kinds)

    @precondition(going)
    @rule(pick=st.integers(0, 9), access=st.sampled_from(["read", "write"]), frame=st.integers(0, 5))
    def at_data(self, pick, access, frame):
        element, frame = self.kind.elements[pick % len(self.kind.elements)], frame % len(self.frames)
        for number in self.mine["data"].values():
            self.direct.remove(number)
            self.ids.pop(number)
        self.mine["data"] = {}
        self.ask("setDataBreakpoints", breakpoints=[])
        info = self.ask("dataBreakpointInfo", name=element, frameId=self.frames[frame])
        try:
            one = self.direct.watch(element, access, frame=frame)
        except RefmlcError:
            assert info["dataId"] is None
            return
        asked = {"dataId": info["dataId"], "accessType": access}
        shown = self.ask("setDataBreakpoints", breakpoints=[asked])["breakpoints"][0]
        assert shown["verified"]
        self.mine["data"][element] = one.number
        self.ids[one.number] = shown["id"]

    # ------------------------------------------------------------------------------------ looking, setting

    @precondition(going)
    @rule(pick=st.integers(0, 9), frame=st.integers(0, 5))
    def expression(self, pick, frame):
        text, frame = self.kind.expressions[pick % len(self.kind.expressions)], frame % len(self.frames)
        try:
            value = self.direct.look(text, frame)
        except RefmlcError:
            assert self.client.refused("evaluate", expression=text, frameId=self.frames[frame])
            return
        found = self.ask("evaluate", expression=text, frameId=self.frames[frame], context="watch")
        if isinstance(value.value, bool | int | float):
            assert equal(found["result"].removesuffix("  [edited]"), value.value, value.dtype)

    @precondition(going)
    @rule(pick=st.integers(0, 9), frame=st.integers(0, 5))
    def set(self, pick, frame):
        (target, text), frame = self.kind.targets[pick % len(self.kind.targets)], frame % len(self.frames)
        try:
            self.direct.set(target, text, frame)
        except RefmlcError:
            assert self.client.refused("setExpression", expression=target, value=text, frameId=self.frames[frame])
            return
        self.ask("setExpression", expression=target, value=text, frameId=self.frames[frame])
        self.look()

    @precondition(going)
    @rule(pick=st.integers(0, 9), frame=st.integers(0, 5))
    def set_a_row(self, pick, frame):
        """By the row that shows it."""
        (target, text), frame = self.kind.targets[pick % len(self.kind.targets)], frame % len(self.frames)
        scope = self.ask("scopes", frameId=self.frames[frame])["scopes"][0]["variablesReference"]
        name, bracket, index = target.partition("[")
        rows = {one["name"]: one for one in self.ask("variables", variablesReference=scope)["variables"]}
        if name not in rows or (bracket and not rows[name]["variablesReference"]):
            return
        of = rows[name]["variablesReference"] if bracket else scope
        try:
            self.direct.set(target, text, frame)
        except RefmlcError:
            assert self.client.refused(
                "setVariable", variablesReference=of, name=f"{bracket}{index}" or name, value=text
            )
            return
        self.ask("setVariable", variablesReference=of, name=f"{bracket}{index}" or name, value=text)
        self.look()

    @precondition(on)
    @rule(line=st.integers(1, 20), back=st.booleans())
    def goto(self, line, back):
        """Go to the next or the last time a line is reached; stay if it never is."""
        found = self.ask("gotoTargets", source=self.source, line=line - 1 + self.first)["targets"]
        there = self.direct.break_line(line, self.name)
        self.direct.remove(there.number)
        assert bool(found) == there.verified
        if not found:
            return
        assert {one["line"] for one in found} == {there.line - 1 + self.first}
        assert len(found) == (1 if self.direct.ended else 2)
        back = back or self.direct.ended
        begin, before = self.direct.stop.moment, [(one, one.enabled) for one in self.direct.breakpoints]
        failures, self.direct.failures = self.direct.failures, frozenset()
        for one, _ in before:
            one.enabled = False
        there = self.direct.break_line(there.line, self.name)
        stop = self.direct.reverse_resume() if back else self.direct.resume()
        text = ""
        if there.number not in stop.hits:
            stop = self.direct.goto(begin)
            text = f"line {there.line} is never reached"
        if stop.reason is Reason.ENDED:
            text = str(stop.moment)
        self.direct.remove(there.number)
        self.direct.failures = failures
        for one, enabled in before:
            one.enabled = enabled
        self.ask("goto", threadId=1, targetId=found[-1 if back else 0]["id"])
        self.compare("goto", text)

    @precondition(on)
    @rule()
    def exception(self):
        stop = self.direct.stop
        if stop.failure is not None:
            found = self.ask("exceptionInfo", threadId=1)
            assert (found["exceptionId"], found["description"]) == (stop.failure.code.id, stop.failure.message)
        elif stop.reason is Reason.NUMBER:
            assert self.ask("exceptionInfo", threadId=1)["description"] == stop.text
        else:
            assert self.client.refused("exceptionInfo", threadId=1)

    @precondition(going)
    @rule(begun=st.sampled_from(["", "v", "A", "i", "zz"]), frame=st.integers(0, 5))
    def complete(self, begun, frame):
        frame %= len(self.frames)
        asked = {"text": f"1 + {begun}", "column": 4 + len(begun) + 1, "frameId": self.frames[frame]}
        names = [one.name for one in self.direct.visible(frame) if one.name.startswith(begun)]
        assert [one["label"] for one in self.ask("completions", **asked)["targets"]] == names

    @precondition(going)
    @rule(frame=st.integers(0, 5), offset=st.integers(0, 9), count=st.integers(0, 30))
    def memory(self, frame, offset, count):
        """The bytes of every tensor of a frame."""
        frame %= len(self.frames)
        for one in self.direct.variables(frame):
            if one.tensor is None or not one.bound:
                continue
            row = self.ask("evaluate", expression=one.name, frameId=self.frames[frame])
            found = self.ask("readMemory", memoryReference=row["memoryReference"], offset=offset, count=count)
            first = one.tensor.byte_offset + offset
            data = bytes(one.tensor.storage.bytes)[first : first + count] if one.tensor.storage.alive else b""
            assert b64decode(found["data"]) == data
            assert found.get("unreadableBytes", 0) == count - len(data)

    @precondition(on)
    @rule(first=st.integers(1, 20), count=st.integers(0, 9))
    def locations(self, first, count):
        found = self.ask(
            "breakpointLocations",
            source=self.source,
            line=first - 1 + self.first,
            endLine=first + count - 1 + self.first,
        )["breakpoints"]
        due = []
        for line in range(first, first + count + 1):
            one = self.direct.break_line(line, self.name)
            self.direct.remove(one.number)
            due += [line] if one.verified and one.line == line else []
        assert [one["line"] + 1 - self.first for one in found] == due

    @precondition(on)
    @rule()
    def nothing_moves(self):
        """What asks for nothing, while the program stands."""
        self.ask("pause", threadId=1)
        self.ask("cancel", requestId=self.client.number)
        assert self.ask("threads")["threads"] == [{"id": 1, "name": self.kind.func}]
        assert self.client.events == [] or all(one["event"] == "output" for one in self.client.events)

    @precondition(going)
    @rule(start=st.integers(0, 4), levels=st.integers(0, 4))
    def some_frames(self, start, levels):
        found = self.ask("stackTrace", threadId=1, startFrame=start, levels=levels)
        assert [one["id"] for one in found["stackFrames"]] == self.frames[start : start + levels if levels else None]
        assert found["totalFrames"] == len(self.frames)

    @invariant()
    def printed(self):
        if self.client is not None:
            assert self.heard == self.said

    def teardown(self):
        if self.client is not None:
            type(self).sequences += 1
            try:
                if self.vanishes and self.first:
                    self.client.close()
                else:
                    self.client.ask("disconnect")
                self.thread.join(60)
                assert not self.thread.is_alive()
            finally:
                self.direct.close()
                self.client.close()
                sys.setrecursionlimit(self.limit)


__all__ = ["Machine", "np"]
