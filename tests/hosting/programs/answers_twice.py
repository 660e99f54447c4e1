"""Answers each save twice, the second time with another text."""

from wire import answer, resource, serve


def save(params, call):
    answer(call, resource(params["properties"]))
    return resource(params["properties"] | {"text": "second"})


serve({"resource/save": save})
