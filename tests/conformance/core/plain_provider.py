"""A whole provider without the SDK, in memory, and the ways in which it can misbehave: ``plain_provider.py FAULT``."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

FAULT = sys.argv[1] if len(sys.argv) > 1 else "none"
ADDRESS = sys.argv[2] if len(sys.argv) > 2 else None

TYPES = [
    {"$type": "StringType"},
    {"$type": "StringType", "sensitive": True},
    {"$type": "IntegerType", "minValue": 0, "maxValue": 100},
    {
        "$type": "ObjectType",
        "name": "Box",
        "properties": {
            "name": {"type": {"$ref": "#/0"}, "flags": 17},
            "size": {"type": {"$ref": "#/2"}, "flags": 1},
            "password": {"type": {"$ref": "#/1"}, "flags": 4},
        },
    },
    {
        "$type": "ResourceType",
        "name": "box@1.0",
        "body": {"$ref": "#/3"},
        "readableScopes": 31,
        "writableScopes": 31,
    },
]
INDEX = {
    "resources": {"box@1.0": {"$ref": "types.json#/4"}},
    "resourceFunctions": {},
    "namespaceFunctions": [],
    "settings": {"name": "plain", "version": "1.0.0", "isSingleton": False},
}
if FAULT == "needs-config":
    place = {"$type": "ObjectType", "name": "Place", "properties": {"port": {"type": {"$ref": "#/2"}, "flags": 1}}}
    given = {"file": {"type": {"$ref": "#/0"}, "flags": 1}, "place": {"type": {"$ref": "#/5"}, "flags": 0}}
    TYPES += [place, {"$type": "ObjectType", "name": "Config", "properties": given}]
    INDEX["settings"]["configurationType"] = {"$ref": "types.json#/6"}
boxes: dict[str, dict] = {}
seen: dict[str, int] = {}
lock = threading.Lock()


class Refused(Exception):
    def __init__(self, code, message, path=None, number=-32010):
        self.number, self.message = number, message
        self.fault = {"code": code, "message": message, **({"path": path} if path else {})}


def known(properties):
    for key, value in properties.items():
        if isinstance(value, dict) and "$unknown" in value:
            raise Refused("UnknownValueNotAllowed", "is not known", f"$.properties.{key}")


def check(properties):
    if not isinstance(properties.get("name"), str):
        raise Refused("MissingProperty", "is required", "$.properties.name")
    if "size" not in properties:
        raise Refused("MissingProperty", "is required", "$.properties.size")
    for key in properties:
        if key not in ("name", "size", "password"):
            raise Refused("UnknownProperty", "is not known", f"$.properties.{key}")
    size = properties["size"]
    if not isinstance(size, dict) and (not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= 100):
        raise Refused("InvalidProperty", "expected 0 to 100", "$.properties.size")


def shown(box):
    result = {key: value for key, value in box.items() if key != "password"}
    if FAULT == "echo-secret" and "password" in box:
        result["password"] = box["password"]
    if FAULT == "number-as-text":
        result["size"] = str(result["size"])
    return {"properties": result, "identifiers": {"name": box["name"]}}


def verb(method, params):
    properties = params["properties"]
    if params["type"].lower() != "box@1.0":
        raise Refused("UnknownResourceType", "no such type", "$.type")
    if method == "resource/previewSave":
        check(properties)
        answer = shown(properties)
        if FAULT == "metadata":
            answer["metadata"] = {"unknown": []}
        return answer
    known(properties)
    name = properties.get("name")
    if not isinstance(name, str):
        raise Refused("MissingProperty", "is required", "$.properties.name")
    if method == "resource/save":
        if FAULT == "hang-save":
            threading.Event().wait()
        if FAULT == "die-save":
            os._exit(7)
        if FAULT in ("crash-save", "internal-error"):
            sys.stderr.write(f"{FAULT}: the disk at /var/{name} is gone\n")
            sys.stderr.flush()
        if FAULT == "crash-save":
            os._exit(9)
        if FAULT == "internal-error":
            raise Refused("InternalError", "something went wrong")
        if FAULT == "slow-save":
            time.sleep(0.3)
        check(properties)
        if FAULT == "secret-in-error" and "password" in properties:
            raise Refused("InvalidProperty", f"bad {properties['password']}", "$.properties.password")
        if FAULT == "secret-in-log":
            sys.stderr.write(f"saving {properties}\n")
        seen.setdefault(name, len(seen))
        boxes[name] = {**boxes.get(name, {}), **properties}
        return shown(boxes[name])
    if method == "resource/get":
        if FAULT == "everlasting":
            return shown({"name": name, "size": 1, **boxes.get(name, {})})
        if name not in boxes:
            raise Refused("not_found" if FAULT == "bad-code" else "ResourceNotFound", "absent")
        return shown(boxes[name])
    if FAULT == "no-delete" and name in boxes:
        raise Refused("PermissionDenied", "not yours")
    if FAULT == "flaky-delete" and name in boxes and not boxes[name].setdefault("tried", False):
        boxes[name]["tried"] = True
        raise Refused("Conflict", "later")
    idle = FAULT in ("idle-delete", "idle-delete-no-get") and seen.get(name, 0) % 2
    if not idle:
        boxes.pop(name, None)
    return {"properties": None, "identifiers": {"name": name}}


def serve(method, params):
    if method == "provider/initialize":
        if FAULT == "hang-greeting":
            threading.Event().wait()
        token = os.environ.get("EXTENSOR_TOKEN")
        if token and params.get("token") != token:
            raise Refused("Unauthorized", "wrong token", "$.token")
        if "1" not in params.get("protocolVersions", []):
            raise Refused("InvalidRequest", "version 1 alone", "$.protocolVersions", number=-32602)
        return {
            "protocolVersion": "1",
            "provider": {"name": "plain", "version": "1.0.0"},
            "capabilities": {"cancel": True, "progress": False, "batch": True},
            "limits": {"maxMessageBytes": 16777216, "maxConcurrentRequests": 256},
        }
    if method == "provider/ping":
        return {}
    if method == "provider/listTypes":
        operations = ["save", "previewSave", *(["get"] if FAULT != "idle-delete-no-get" else []), "delete"]
        return {"types": [{"type": "box@1.0", "operations": operations}]}
    if method == "provider/getTypeFiles":
        return {"indexFile": json.dumps(INDEX), "typeFiles": {"types.json": json.dumps(TYPES)}}
    if method == "provider/getConfigType":
        return None
    if method == "provider/shutdown":
        return {}
    if method.startswith("resource/"):
        return verb(method, params)
    raise KeyError(method)


def answer(message, client):
    base = {"jsonrpc": "2.0", "id": message.get("id")}
    try:
        if message["method"] != "provider/initialize" and not client["welcome"]:
            raise Refused("Unauthorized", "present the token first")
        result = serve(message["method"], message.get("params") or {})
        client["welcome"] = True
        return {**base, "result": result}
    except Refused as error:
        data = {"errors": [error.fault], "transient": False}
        return {**base, "error": {"code": error.number, "message": error.message, "data": data}}
    except LookupError as error:
        return {**base, "error": {"code": -32601, "message": f"no {error}"}}


def handle(line, send, client):
    try:
        message = json.loads(line)
    except ValueError:
        send({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "broken JSON"}})
        return
    if isinstance(message, list):
        send([answer(member, client) for member in message if "id" in member])
        return
    if "id" not in message:
        if FAULT == "answer-notifications":
            send({"jsonrpc": "2.0", "id": None, "result": {}})
        return
    made = answer(message, client)
    if FAULT == "text-ids":
        made["id"] = str(made["id"])
    send(made)
    if FAULT == "answer-twice":
        send(made)
    if FAULT == "banner" and message["method"] == "resource/save":
        send("saved!")


def talk(reader, writer):
    def send(value):
        text = value if isinstance(value, str) else json.dumps(value)
        with lock:
            writer.write(text.encode() + b"\n")
            writer.flush()

    client = {"welcome": not os.environ.get("EXTENSOR_TOKEN")}
    for line in reader:
        if FAULT in ("hang-save", "slow-save"):
            threading.Thread(target=handle, args=(line, send, client), daemon=True).start()
        else:
            handle(line, send, client)


def main():
    if FAULT == "die":
        sys.stderr.write("no licence\n")
        sys.exit(3)
    if FAULT == "start-banner":
        sys.stdout.write("welcome\n")
        sys.stdout.flush()
    if FAULT == "never-read":
        threading.Event().wait()
    if FAULT == "garbage":
        while True:
            sys.stdout.buffer.write(os.urandom(65536))
    if FAULT == "flood-stderr":
        threading.Thread(target=flood, daemon=True).start()
    if FAULT == "child":
        subprocess.Popen(["/bin/sleep", "60"])
    if FAULT == "stay":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if ADDRESS:
        listen(ADDRESS)
        return
    talk(sys.stdin.buffer, sys.stdout.buffer)
    if FAULT == "stay":
        threading.Event().wait()


def flood():
    while True:
        sys.stderr.write("x" * 65536 + "\n")


def listen(address):
    kind, _, rest = address.partition(":")
    if kind == "unix":
        server = socket.socket(socket.AF_UNIX)
        server.bind(rest)
    else:
        host, _, port = rest.rpartition(":")
        server = socket.socket()
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((host, int(port)))
    server.listen()
    while True:
        client, _ = server.accept()
        file = client.makefile("rwb")
        threading.Thread(target=talk, args=(file, file), daemon=True).start()


main()
