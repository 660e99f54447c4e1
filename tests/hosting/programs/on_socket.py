"""Serves one method on a socket: the argument is unix:PATH or tcp. Prints its address, then takes connections for ever.

On TCP it asks for the token "sesame". A save of a note named "bye" closes the connection instead of answering.
"""

import json
import socket
import sys
import threading

from wire import HANDSHAKE, resource


def serve(connection):
    greeted = not tcp
    with connection, connection.makefile("rwb") as file:
        for line in file:
            message = json.loads(line)
            reply = {"jsonrpc": "2.0", "id": message.get("id")}
            if message["method"] == "provider/initialize":
                greeted = greeted or message["params"].get("token") == "sesame"
            if not greeted:
                reply["error"] = {
                    "code": -32010,
                    "message": "token",
                    "data": {"errors": [{"code": "Unauthorized", "message": "no"}]},
                }
            elif message["method"] == "provider/initialize":
                reply["result"] = HANDSHAKE
            elif message["params"]["properties"]["name"] == "bye":
                return
            else:
                reply["result"] = resource(message["params"]["properties"])
            file.write(json.dumps(reply).encode() + b"\n")
            file.flush()


tcp = sys.argv[1] == "tcp"
if tcp:
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"tcp:127.0.0.1:{listener.getsockname()[1]}"
else:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1].removeprefix("unix:"))
    listener.listen()
    address = sys.argv[1]
sys.stdout.write(f"{address}\n")
sys.stdout.flush()
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
