"""Refuses each verb twice as throttled, to be retried after 2 seconds, then serves it."""

from collections import Counter

from wire import failed, resource, serve

tries = Counter()


def verb(name):
    def serve_it(params, call):
        tries[name] += 1
        if tries[name] < 3:
            raise failed("Throttled", "too many calls", transient=True, retryAfterSeconds=2)
        return resource(params["properties"])

    return serve_it


serve({name: verb(name) for name in ("resource/save", "resource/get", "resource/delete", "resource/previewSave")})
