"""The extension in VS Code itself: packaged, installed, and the story of a NaN told by its buttons and keys.

    python tests/e2e/vscode_story.py --code-server COMMAND [--vsix FILE] [--pictures FOLDER]

code-server is VS Code as a server; it is driven here in a headless Chromium (extra `browser`). It is installed from
npm; where its natives are not built, `npm rebuild` of `argon2`, `@parcel/watcher`, `@vscode/spdlog` is enough. COMMAND
starts it: `code-server`, or `node …/code-server/out/node/entry.js`. Ends with 1 where VS Code shows something else.
"""

import argparse
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from playwright.sync_api import Page, TimeoutError as TooLate, expect, sync_playwright

from refmlc.debug.vsix import write_package

ROOT = Path(__file__).parents[2]
STORY = ROOT / "tests" / "golden" / "debug" / "transformer.py"
INPUTS = ["x=normal(7)", "wq=normal(1)", "wk=normal(2)", "wv=normal(3)", "w1=normal(4)", "w2=normal(5)"]
LAUNCH = {
    "name": "the story of a NaN", "type": "refmlc", "request": "launch", "program": "${workspaceFolder}/transformer.py",
    "inputs": INPUTS, "stopOnEntry": True, "stopAtEnd": True,
}  # fmt: skip
SETTINGS = {
    "refmlc.command": [sys.executable, "-m", "refmlc"], "security.workspace.trust.enabled": False,
    "debug.toolBarLocation": "docked", "workbench.startupEditor": "none", "extensions.autoUpdate": False,
}  # fmt: skip
SECONDS = 60_000


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def prepared(folder: Path) -> Path:
    """The folder that is opened: the program and its launch.json."""
    opened = folder / "work"
    (opened / ".vscode").mkdir(parents=True)
    shutil.copy(STORY, opened)
    configurations = {"version": "0.2.0", "configurations": [LAUNCH]}
    (opened / ".vscode" / "launch.json").write_text(json.dumps(configurations), encoding="utf-8")
    (folder / "data" / "User").mkdir(parents=True)
    (folder / "data" / "User" / "settings.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    return opened


def wait_for(url: str) -> None:
    """Until the server answers."""
    for _ in range(120):
        try:
            urllib.request.urlopen(url, timeout=5).close()  # noqa: S310 - of this machine
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
        else:
            return
    raise SystemExit("the server does not answer")


class Code:
    """VS Code, seen by what it shows."""

    def __init__(self, page: Page, pictures: Path | None) -> None:
        """`page` has it opened."""
        self.page = page
        self.pictures = pictures

    def say(self, line: str) -> None:
        """A step that went well."""
        sys.stdout.write(f"{line}\n")
        if self.pictures is not None:
            self.page.screenshot(path=self.pictures / f"{line[:40].replace(' ', '-').replace('/', '')}.png")

    def start(self) -> None:
        """F5; VS Code forgets a key that comes before it is all there."""
        for _ in range(4):
            self.page.keyboard.press("F5")
            try:
                self.page.locator(".debug-call-stack .monaco-list-row").first.wait_for(timeout=SECONDS // 4)
            except TooLate:
                continue
            return

    def top(self, text: str) -> None:
        """The innermost frame is this one."""
        expect(self.page.locator(".debug-call-stack .monaco-list-row").first).to_contain_text(text, timeout=SECONDS)

    def caught(self, text: str) -> None:
        """The editor tells of this exception."""
        expect(self.page.locator(".exception-widget")).to_contain_text(text, timeout=SECONDS)

    def press(self, action: str) -> None:
        """A button of the toolbar."""
        self.page.locator(f".codicon-debug-{action}:visible").first.click()

    def catch(self, label: str) -> None:
        """Check, or uncheck, a filter of exceptions."""
        self.page.locator(".debug-breakpoints .monaco-list-row", has_text=label).locator("input").first.click()

    def ask(self, text: str, answer: str) -> None:
        """A line in the debug console."""
        self.page.locator(".repl-input-wrapper .monaco-editor").click()
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")
        expect(self.page.locator(".repl .monaco-list")).to_contain_text(answer, timeout=SECONDS)


def told(code: Code) -> None:
    """The story: to the element that overflows, why, back, and further on to the NaN."""
    page = code.page
    page.locator(".explorer-folders-view").get_by_text("transformer.py").dblclick(timeout=SECONDS)
    expect(page.locator(".monaco-editor .view-line").first).to_be_visible(timeout=SECONDS)
    expect(page.locator(".tabs-container .tab", has_text="transformer.py")).to_be_visible(timeout=SECONDS)
    expect(page.get_by_role("button", name="Debug this TVM module")).to_be_visible(timeout=SECONDS)
    code.start()
    code.top("main (binding q)")
    code.say("F5 starts refmlc dap and stands at the entry")
    code.catch("NaN or infinity is stored")
    code.press("continue")
    code.caught("exp[0, 2] = inf is about to be stored")
    code.top("block exp (vi = 0, vj = 2)")
    code.say("continue stops where an element overflows")
    code.ask("why", "scores[0, 2] = 89.043884")
    code.ask("scores[vi, vj]", "89.043884")
    code.say("why and an expression in the debug console")
    code.press("step-back")
    code.top("for j (j = 2)")
    code.say("step back")
    code.press("reverse-continue")
    code.top("main (binding q)")
    code.say("reverse continue to the beginning")
    code.press("continue")
    code.caught("exp[0, 2] = inf is about to be stored")
    for text in ("exp[1, 3] = inf", "total[0] = inf", "total[0] = inf", "total[1] = inf", "weights[0, 2] = nan"):
        code.press("continue")
        code.caught(f"{text} is about to be stored")
    code.top("block divide (vi = 0, vj = 2)")
    code.say("further on: the infinity becomes a NaN")
    code.press("stop")
    expect(page.locator(".debug-call-stack .monaco-list-row")).to_have_count(0, timeout=SECONDS)
    page.keyboard.press("F1")
    page.keyboard.type("Debug this TVM module")
    expect(page.locator(".quick-input-list .monaco-list-row").first).to_contain_text("refmlc", timeout=SECONDS)
    code.say("stop; the command is in the palette")


def main() -> int:
    """Package, install, start, drive."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--code-server", type=shlex.split, required=True, help="What starts it.")
    parser.add_argument("--vsix", type=Path, help="The package; left out: the one that `refmlc vscode` makes.")
    parser.add_argument("--pictures", type=Path, help="A folder for a picture of each step.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        opened = prepared(folder)
        package = given.vsix or write_package(folder / "refmlc-debug.vsix")
        options = ["--user-data-dir", str(folder / "data"), "--extensions-dir", str(folder / "extensions")]
        options += ["--config", str(folder / "config.yaml")]
        subprocess.run([*given.code_server, *options, "--install-extension", str(package)], check=True, timeout=120)
        port = free_port()
        start = ["--auth", "none", "--bind-addr", f"127.0.0.1:{port}", "--disable-telemetry", "--disable-update-check"]
        log = (folder / "log").open("w")
        server = subprocess.Popen(
            [*given.code_server, *options, *start], stdout=log, stderr=log, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
        try:
            wait_for(f"http://127.0.0.1:{port}/healthz")
            with sync_playwright() as running:
                chromium = shutil.which("chromium") or shutil.which("google-chrome")
                browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
                page = browser.new_page(viewport={"width": 1400, "height": 900})
                page.goto(f"http://127.0.0.1:{port}/?folder={opened}")
                told(Code(page, given.pictures))
                browser.close()
        finally:
            server.terminate()
            server.wait(timeout=30)
            log.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
