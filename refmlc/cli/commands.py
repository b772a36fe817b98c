"""All subcommands, in groups: where each is defined, and a summary.

The summaries are for the overview, which loads no subcommand; `refmlc COMMAND --help` has the details.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """A subcommand: its `place` as `module:attribute`, and a summary in one line."""

    place: str
    summary: str


GROUPS: Mapping[str, Mapping[str, Entry]] = {
    "Check": {
        "check": Entry("refmlc.cli.check:check", "Find undefined behaviour and wrong results in a module."),
        "watch": Entry("refmlc.cli.watch:watch", "Check what changes in a folder while one works."),
        "equiv": Entry("refmlc.cli.equiv:equiv", "Ask whether one module may replace another."),
        "prove": Entry("refmlc.cli.prove:prove", "Show for all arguments that one module may replace another."),
        "passes": Entry("refmlc.cli.passes:passes", "Find the compiler pass that changes the meaning."),
    },
    "Explore": {
        "show": Entry("refmlc.cli.show:show", "Read a module, check it and print it."),
        "run": Entry("refmlc.cli.run:run", "Run a function and print its results."),
        "debug": Entry("refmlc.cli.debug:debug", "Step through a function, forwards and backwards."),
        "why": Entry("refmlc.cli.why:why_command", "Show which operations computed one element."),
        "trace": Entry("refmlc.cli.trace:trace", "Record a whole run as a page or as data."),
        "layout": Entry("refmlc.cli.layout:layout", "Show which lane, warp and address each element of a tile has."),
        "native": Entry("refmlc.cli.native:native", "Show the C generated for a module."),
        "explain": Entry("refmlc.cli.explain:explain", "Explain a diagnostic code."),
        "spec": Entry("refmlc.cli.spec:spec", "Print a clause of the specification."),
    },
    "Conform": {"conform": Entry("refmlc.cli.conform:conform", "Run the conformance suite against an implementation.")},
    "Fuzz": {
        "fuzz": Entry("refmlc.cli.fuzz:fuzz", "Compare implementations on generated programs."),
        "reduce": Entry("refmlc.cli.reduce:reduce_command", "Shrink a program that shows a fault."),
        "replay": Entry("refmlc.cli.replay:replay", "Run a recorded case again."),
        "report": Entry("refmlc.cli.report:report", "Write the issue text of a finding."),
    },
    "Import": {
        "import": Entry("refmlc.cli.import_:import_command", "Turn an ONNX, PyTorch or TVM model into a module."),
        "course": Entry("refmlc.cli.course:course", "Run a chapter or notebook that uses TVM."),
    },
    "Tools": {
        "demo": Entry("refmlc.cli.demo:demo", "Run a small network on handwritten digits."),
        "bench": Entry("refmlc.cli.bench:bench", "Measure the speed of refmlc."),
        "cache": Entry("refmlc.cli.cache:cache", "Show or empty the cache of compiled code."),
        "play": Entry("refmlc.cli.play:play", "Try modules on a page in the browser."),
        "vscode": Entry("refmlc.cli.vscode:vscode", "Install the debugger in VS Code."),
        "mcp": Entry("refmlc.cli.mcp:mcp", "Serve verdicts and the debugger to an assistant."),
        "dap": Entry("refmlc.cli.dap:dap", "Serve the debugger to an editor."),
    },
}

# The suffix of a file given in place of a command, the command that takes such a file, and its purpose.
FILES = {
    ".py": ("check", "check this file"),
    ".onnx": ("import", "import this model"),
    ".pt2": ("import", "import this model"),
    ".json": ("import", "import this module of TVM"),
    ".toml": ("replay", "run this case again"),
    ".jsonl": ("passes", "check these snapshots"),
    ".md": ("course", "run this document"),
    ".rst": ("course", "run this document"),
    ".ipynb": ("course", "run this notebook"),
}

# Names that other tools use.
SYNONYMS = {
    "compare": "equiv",
    "diff": "equiv",
    "proof": "prove",
    "lint": "check",
    "test": "check",
    "verify": "check",
    "execute": "run",
    "print": "show",
    "step": "debug",
    "minimize": "reduce",
    "shrink": "reduce",
    "convert": "import",
    "suite": "conform",
}
