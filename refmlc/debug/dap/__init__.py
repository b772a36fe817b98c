"""The Debug Adapter Protocol, over the standard streams and a socket: what editors speak to `refmlc.debug`.

`PROTOCOL.md` says what becomes of every request and event.

| file           | holds                                                                                     |
|----------------|-------------------------------------------------------------------------------------------|
| `framing`      | messages on a stream                                                                      |
| `channel`      | the two directions: the line of what came, the numbered events and answers                 |
| `arguments`    | arguments of requests, checked; refusals                                                  |
| `capabilities` | what is announced                                                                         |
| `state`        | the phases of a session, what all requests share                                           |
| `references`   | what numbers stand for: frames, values, targets                                            |
| `sources`      | texts: files, and what has none                                                            |
| `showing`      | values as rows: pages, statistics, masks                                                   |
| `points`       | breakpoints of all kinds                                                                   |
| `looking`      | the requests that look, and those that set                                                 |
| `moving`       | the requests that move                                                                     |
| `progress`     | word of what takes long                                                                   |
| `adapter`      | all requests; the loop of requests and motions                                             |
| `door`         | who is let in over a socket: the client with the token                                    |
| `server`       | streams and sockets                                                                       |
"""

from refmlc.debug.dap.arguments import Arguments
from refmlc.debug.dap.door import new_token
from refmlc.debug.dap.server import HOST, leave, listen, serve, serve_socket
from refmlc.debug.dap.state import Launcher

__all__ = ["HOST", "Arguments", "Launcher", "leave", "listen", "new_token", "serve", "serve_socket"]
