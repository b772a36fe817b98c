"""The Debug Adapter Protocol over standard streams or a socket: the interface between editors and `refmlc.debug`.

`PROTOCOL.md` lists every request and event.

| file           | holds                                                                                     |
|----------------|-------------------------------------------------------------------------------------------|
| `framing`      | messages on a stream                                                                      |
| `channel`      | the queue of incoming requests; numbered events and responses                             |
| `arguments`    | checked arguments of requests; refusals                                                   |
| `capabilities` | the capabilities the server announces                                                     |
| `dap_state`    | the phases of a session, the state that all requests share                                |
| `references`   | numbers that stand for frames, values and targets                                         |
| `sources`      | source texts: files, and texts without a file                                             |
| `value_rows`   | values as rows: pages, statistics, masks                                                  |
| `breakpoints`  | breakpoints of all kinds                                                                  |
| `inspection`   | requests that read or set values                                                          |
| `console`      | words of the console: why, threads, waits, barriers                                       |
| `threads`      | the threads that the client sees                                                          |
| `motions`      | requests that move the program                                                            |
| `progress`     | progress events for long requests                                                         |
| `adapter`      | all requests; the loop of requests and motions                                            |
| `door`         | access over a socket: only for the client with the token                                  |
| `server`       | streams and sockets                                                                       |
"""

from refmlc.debug.dap.arguments import Arguments
from refmlc.debug.dap.dap_state import Launcher
from refmlc.debug.dap.door import new_token
from refmlc.debug.dap.server import HOST, leave, listen, serve, serve_socket

__all__ = ["HOST", "Arguments", "Launcher", "leave", "listen", "new_token", "serve", "serve_socket"]
