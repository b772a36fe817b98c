// Starts `refmlc dap` for debug sessions of type `refmlc`, and speaks the Debug Adapter Protocol with it.
"use strict";

const vscode = require("vscode");

const TYPE = "refmlc";

// The server: a listening one if the configuration has a port, otherwise a new process.
class Server {
  createDebugAdapterDescriptor(session) {
    const { port } = session.configuration;
    if (port) {
      return new vscode.DebugAdapterServer(port, "127.0.0.1");
    }
    const command = vscode.workspace.getConfiguration(TYPE).get("command") || ["refmlc"];
    return new vscode.DebugAdapterExecutable(command[0], [...command.slice(1), "dap"]);
  }
}

// Without a launch.json, a session debugs the file in the active editor.
class Configurations {
  resolveDebugConfiguration(_folder, configuration) {
    if (configuration.type || configuration.request || configuration.name) {
      return configuration.port && !configuration.token ? withToken(configuration) : configuration;
    }
    const editor = vscode.window.activeTextEditor;
    return editor && editor.document.languageId === "python" ? ofFile("${file}") : undefined;
  }
}

// A listening server accepts only a client with the token that it printed. Without a token the session does not start.
async function withToken(configuration) {
  const prompt = "The token that `refmlc dap --port` printed";
  const token = await vscode.window.showInputBox({ prompt, password: true, ignoreFocusOut: true });
  return token ? { ...configuration, token: token.trim() } : undefined;
}

function ofFile(program) {
  return { type: TYPE, request: "launch", name: "refmlc: this module", program, stopOnEntry: true, stopAtEnd: true };
}

function debugFile(resource) {
  const editor = vscode.window.activeTextEditor;
  const target = resource || (editor && editor.document.uri);
  if (!target) {
    return vscode.window.showErrorMessage("refmlc: no file is open");
  }
  return vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(target), ofFile(target.fsPath));
}

function activate(context) {
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, new Server()),
    vscode.debug.registerDebugConfigurationProvider(TYPE, new Configurations()),
    vscode.commands.registerCommand("refmlc.debugFile", debugFile),
  );
}

function deactivate() {}

module.exports = { activate, deactivate };
