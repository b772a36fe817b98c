"""The extension for VS Code: what its manifest, its script and the server say of each other fits.

There is no VS Code here: the script is loaded by Node with a stand-in for the module `vscode`, which keeps what is
registered. What VS Code itself does with it, `tests/e2e/vscode_story.py` tells.
"""

import ast
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "refmlc" / "debug" / "vscode"
NODE = shutil.which("node")

STAND_IN = """
const Module = require("module");
const seen = { factories: {}, providers: {}, commands: {}, started: [] };
const vscode = {
  debug: {
    registerDebugAdapterDescriptorFactory: (type, it) => { seen.factories[type] = it; return {}; },
    registerDebugConfigurationProvider: (type, it) => { seen.providers[type] = it; return {}; },
    startDebugging: (folder, configuration) => seen.started.push(configuration),
  },
  commands: { registerCommand: (name, it) => { seen.commands[name] = it; return {}; } },
  workspace: { getConfiguration: () => ({ get: () => ["py", "-m", "refmlc"] }), getWorkspaceFolder: () => undefined },
  window: { activeTextEditor: { document: { languageId: "python", uri: { fsPath: "/m.py" } } },
            showInputBox: async () => seen.typed },
  DebugAdapterExecutable: class { constructor(command, args) { this.command = command; this.args = args; } },
  DebugAdapterServer: class { constructor(port, host) { this.port = port; this.host = host; } },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
const context = { subscriptions: [] };
require(process.argv[1]).activate(context);
seen.commands["refmlc.debugFile"]();
const factory = seen.factories.refmlc;
const resolved = (configuration) => seen.providers.refmlc.resolveDebugConfiguration(undefined, configuration);
const joining = { type: "refmlc", port: 4711 };
(async () => console.log(JSON.stringify({
  commands: Object.keys(seen.commands), types: Object.keys(seen.factories), providers: Object.keys(seen.providers),
  started: seen.started, kept: context.subscriptions.length,
  executable: factory.createDebugAdapterDescriptor({ configuration: {} }),
  server: factory.createDebugAdapterDescriptor({ configuration: { port: 4711 } }),
  empty: resolved({}),
  refused: (await resolved(joining)) === undefined,
  typed: ((seen.typed = " word "), await resolved(joining)),
  known: await resolved({ ...joining, token: "mine" }),
})))();
"""


@pytest.fixture(scope="module")
def manifest():
    return json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))


def debugger(manifest):
    (found,) = manifest["contributes"]["debuggers"]
    return found


def test_the_manifest_has_what_a_manifest_must_have(manifest):
    assert {"name", "version", "publisher", "engines"} <= set(manifest)
    assert manifest["name"] == manifest["name"].lower()
    assert (FOLDER / manifest["main"]).is_file()
    assert debugger(manifest)["type"] == "refmlc"
    assert debugger(manifest)["languages"] == ["python"]
    assert {"language": "python"} in manifest["contributes"]["breakpoints"]


def test_menus_show_commands_that_there_are(manifest):
    known = {one["command"] for one in manifest["contributes"]["commands"]}
    shown = {row["command"] for menu in manifest["contributes"]["menus"].values() for row in menu}
    assert shown <= known


def test_attributes_are_a_schema_and_examples_fit_it(manifest):
    schema = {**debugger(manifest)["configurationAttributes"]["launch"], "additionalProperties": False}
    schema["properties"] = {**schema["properties"], **{key: {"type": "string"} for key in ("name", "type", "request")}}
    Draft7Validator.check_schema(schema)
    examples = json.loads((FOLDER / "launch.json").read_text(encoding="utf-8"))["configurations"]
    snippets = [one["body"] for one in debugger(manifest)["configurationSnippets"]]
    for one in (*examples, *snippets, *debugger(manifest)["initialConfigurations"]):
        assert list(Draft7Validator(schema).iter_errors(one)) == []
        assert one["type"] == "refmlc"


def test_attributes_are_what_the_server_reads(manifest):
    server = ROOT / "refmlc" / "debug" / "dap"
    files = (ROOT / "refmlc" / "cli" / "dap.py", server / "adapter.py", server / "door.py")
    read = {
        node.value
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    attributes = set(debugger(manifest)["configurationAttributes"]["launch"]["properties"])
    assert attributes - {"port"} <= read  # the port is the extension's own


@pytest.mark.needs("node")
def test_the_script_is_javascript():
    subprocess.run([NODE, "--check", FOLDER / "extension.js"], check=True)


@pytest.mark.needs("node")
def test_the_script_registers_what_the_manifest_names(manifest):
    ran = subprocess.run(
        [NODE, "-e", STAND_IN, FOLDER / "extension.js"], capture_output=True, text=True, check=True, timeout=60
    )
    seen = json.loads(ran.stdout)
    assert seen["commands"] == [one["command"] for one in manifest["contributes"]["commands"]]
    assert seen["types"] == seen["providers"] == ["refmlc"]
    assert seen["kept"] == 3
    assert seen["executable"] == {"command": "py", "args": ["-m", "refmlc", "dap"]}
    assert seen["server"] == {"port": 4711, "host": "127.0.0.1"}
    assert seen["refused"]
    assert (seen["typed"]["token"], seen["known"]["token"]) == ("word", "mine")
    assert [one["program"] for one in (*seen["started"], seen["empty"])] == ["/m.py", "${file}"]
