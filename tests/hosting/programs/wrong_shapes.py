"""Answers what its argument says, to each verb and, where the name says so, to the handshake."""

import sys

from wire import HANDSHAKE, Refused, resource, serve

HANDSHAKES = {
    "handshake-list": [],
    "handshake-empty": {},
    "handshake-version": HANDSHAKE | {"protocolVersion": "99"},
}


def verb(params, call):
    match sys.argv[1]:
        case "list":
            return []
        case "no-properties":
            return {"identifiers": {}}
        case "null-properties":
            return {"properties": None}
        case "unknown":
            return resource({"name": "n", "text": {"$unknown": {}}})
        case "bad-unknown":
            return resource({"name": "n", "text": {"$unknown": 5}})
        case "internal":
            raise Refused(-32603, "it broke")
        case "no-such-method":
            raise Refused(-32601, "no such method")
        case "string-data":
            raise Refused(-32010, "it failed", "because")
        case "no-reason":
            raise Refused(-32010, "", {"errors": []})
        case "detailed":
            raise Refused(
                -32010,
                "two things are wrong",
                {
                    "errors": [
                        {"path": "$.properties.name", "code": "InvalidProperty", "message": "too long"},
                        {"code": "QuotaReached", "message": "there are 100 notes"},
                    ],
                    "transient": False,
                    "resource": {"identifiers": {"name": "n"}},
                    "correlationId": "c-1",
                },
            )
        case other:
            raise AssertionError(other)


def refuse_handshake(params, call):
    raise Refused(-32602, "no common version", {"supportedVersions": ["7", "8"]})


methods = dict.fromkeys(("resource/save", "resource/get", "resource/delete", "resource/previewSave"), verb)
if sys.argv[1] == "handshake-refused":
    methods["provider/initialize"] = refuse_handshake
serve(methods, handshake=HANDSHAKES.get(sys.argv[1], HANDSHAKE))
