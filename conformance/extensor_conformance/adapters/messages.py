"""What messages of JSON-RPC say: a verb's params, and an answer."""

import json

from extensor.contract import Json, JsonObject
from extensor_conformance.answers import Answer, ErrorAnswer
from extensor_conformance.connection import Hello, VerbCall


def params_of(call: VerbCall, hello: Hello | None) -> JsonObject:
    """The params of a verb, with the provider's name and version from the handshake unless the call has its own."""
    imported: JsonObject = {
        "provider": call.provider if call.provider is not None else hello.name if hello else "",
        "version": call.version if call.version is not None else hello.version if hello else "",
        "config": call.config,
    }
    if call.config_id is not None:
        imported["configId"] = call.config_id
    params: JsonObject = {"import": imported, "type": call.type, "properties": call.properties}
    if call.context is not None:
        params["context"] = dict(call.context)
    return params


def written(message: Json) -> bytes:
    """A message as UTF-8; half characters travel as escapes."""
    try:
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":")).encode()


def read(data: bytes) -> Json:
    """The value of a frame. Raises `ValueError` or `RecursionError` for what is no JSON, as NaN is none."""
    return json.loads(data, parse_constant=_no_constant)


def answer_of(message: JsonObject, raw: bytes) -> Answer:
    """A message that has a result or an error, whatever their shape."""
    id_, error = message.get("id"), message.get("error")
    if error is None and "error" not in message:
        return Answer(message.get("result"), None, id_, raw)
    data: JsonObject = error if isinstance(error, dict) else {}
    code = data.get("code")
    number = code if isinstance(code, int) and not isinstance(code, bool) else 0
    return Answer(None, ErrorAnswer(number, str(data.get("message", "")), data.get("data")), id_, raw)


def _no_constant(word: str) -> Json:
    raise ValueError(f"{word} is not JSON")
