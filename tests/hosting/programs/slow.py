"""Never answers a save before it is canceled; then it says so in its log, answers late, and answers get."""

from wire import NOTHING, resource, send, serve

waiting = {}


def save(params, id):
    waiting[id] = params
    send({"jsonrpc": "2.0", "method": "$/progress", "params": {"id": id, "message": "half way", "percent": 50}})
    return NOTHING


def on_message(message):
    if message.get("method") == "$/cancelRequest":
        id = message["params"]["id"]
        deadline = waiting[id].get("context", {}).get("deadlineSeconds")
        send({"jsonrpc": "2.0", "method": "$/log", "params": {"level": "warning", "message": f"canceled {deadline}"}})
        send({"jsonrpc": "2.0", "id": id, "result": resource(waiting.pop(id)["properties"])})


serve({"resource/save": save, "resource/get": lambda params, id: resource(params["properties"])}, on_message=on_message)
