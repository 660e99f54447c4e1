"""Never answers a save before it is canceled; then it says so in its log, answers late, and answers get."""

from wire import NOTHING, resource, send, serve

waiting = {}


def save(params, call):
    waiting[call] = params
    send({"jsonrpc": "2.0", "method": "$/progress", "params": {"id": call, "message": "half way", "percent": 50}})
    return NOTHING


def on_message(message):
    if message.get("method") == "$/cancelRequest":
        call = message["params"]["id"]
        deadline = waiting[call].get("context", {}).get("deadlineSeconds")
        send({"jsonrpc": "2.0", "method": "$/log", "params": {"level": "warning", "message": f"canceled {deadline}"}})
        send({"jsonrpc": "2.0", "id": call, "result": resource(waiting.pop(call)["properties"])})


serve(
    {"resource/save": save, "resource/get": lambda params, call: resource(params["properties"])}, on_message=on_message
)
