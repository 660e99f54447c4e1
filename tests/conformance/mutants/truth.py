"""The plain provider with two counters more, and the ways in which previews, saves, reads and deletes can be untrue.

    truth.py [--store DIR] [--mutant NAME]        the provider; see plain.py
    truth.py probe DIR exists|list|mutate|remove  the probe for its store

The names H1, H7 and H9 make it odd and still honest: reads that are old for a while, a badge that differs each time, a
list without order. A box has a read-only `serial`, taken from a sequence at its creation, and a read-only `revision`
that counts changes.
"""

import copy
import itertools
import json
import random
import sys
import threading
import time
from pathlib import Path

import plain
from plain import READ_ONLY, Refused, Unknown, fault, path_of, type_at, wrong

BOX = type_at(plain.BOX)
BOX["properties"]["serial"] = plain.field(plain.NUMBER, READ_ONLY, "Counts the boxes.")
BOX["properties"]["revision"] = plain.field(plain.NUMBER, READ_ONLY, "Counts the changes.")
if wrong("H7"):
    BOX["properties"]["badge"] = plain.field(plain.NUMBER, READ_ONLY)
SERIALS = itertools.count(1)
CACHE = {}
DOUBLES = {}
ABSENT = {}
MINE = set()
HIDDEN = {}
GRAVES = {}
READS = itertools.count(1)

_aimed, _save, _preview, _get, _delete = plain.aimed, plain.save, plain.preview_save, plain.get, plain.delete
_merged, _resource, _check, _defaulted, _fail = plain.merged, plain.resource, plain.check, plain.defaulted, plain.fail
_config_id = plain.config_id
COUNTED = ("serial", "revision")


def same(one, other):
    """Whether two states are known to be equal, counters and times aside."""
    if list(plain.unknowns(one, ())):
        return False
    left = ("touched", *COUNTED)
    return {k: v for k, v in one.items() if k not in left} == {k: v for k, v in other.items() if k not in left}


def aimed(key, name, body, given, preview=False):
    """The object as it will be, with its counters, and as it is."""
    if wrong("M40") and isinstance(given.get("label"), str):
        given = {**given, "label": f"<{given['label']}>"}
    if wrong("M23") and preview and name == "box@1.0" and plain.STORE.read(key) is None:
        made, old = _aimed(key, name, body, given, preview)
        if "color" not in given:
            made.pop("color", None)
    elif wrong("forgets-what-is-there") and preview:
        made = plain.defaulted(plain.without(given, body, READ_ONLY, nulls=True), name, True)
        old = plain.STORE.read(key)
        if name == "box@1.0" and old is not None:
            made = {**made, "touched": old["touched"], "serial": old["serial"], "revision": old["revision"] + 1}
            return made, old
    elif wrong("clears-absent"):
        old = plain.STORE.read(key)
        faults = list(plain.immutable_changes(old, given, body, ("properties",))) if old is not None else []
        if faults:
            raise Refused(*faults)
        made = plain.defaulted(plain.without(given, body, READ_ONLY, nulls=True), name, preview)
        if old is not None and name == "box@1.0":
            made.update({counter: old[counter] for counter in COUNTED})
            made["touched"] = old["touched"] if same(made, old) else made["touched"]
    else:
        made, old = _aimed(key, name, body, given, preview)
    if name != "box@1.0":
        return made, old
    if old is None:
        made["serial"] = Unknown({}) if preview else next(SERIALS)
        made["revision"] = 1
        if preview and wrong("M21"):
            next(SERIALS)
    elif list(plain.unknowns(made, ())):
        made["revision"] = Unknown({})
    elif not same(made, old) or wrong("M25" if preview else "repeat-differs"):
        made = {**made, "revision": old["revision"] + 1}
    return made, old


def merged(old, new, type_):
    """As in the plain one, or with old values shining through."""
    if wrong("M39") and isinstance(old, list) and isinstance(new, list):
        return new + [item for item in old if item not in new]
    if wrong("keeps-labels") and "additionalProperties" in type_ and isinstance(old, dict) and isinstance(new, dict):
        return {**old, **new}
    return _merged(old, new, type_)


def save(key, name, body, given, request):
    """As in the plain one, or with a flaw."""
    if wrong("M35") and plain.STORE.read(key) is not None:
        DOUBLES[key] = DOUBLES.get(key, 0) + 1
    if wrong("M43") and plain.STORE.read(key) is not None and key not in MINE:
        DOUBLES[key] = DOUBLES.get(key, 0) + 1
    MINE.add(key)
    if wrong("M47"):
        HIDDEN.pop(key, None)
    if wrong("double-at-once") and plain.STORE.read(key) is None:
        return doubled(key, name, body, given, request)
    if wrong("reborn-with-old-values") and key in GRAVES and plain.STORE.read(key) is None:
        old = GRAVES[key]
        given = {**{k: v for k, v in old.items() if k in body["properties"] and k not in READ_ONLIES}, **given}
    if wrong("reborn-with-old-serial") and key in GRAVES and name == "box@1.0" and plain.STORE.read(key) is None:
        answer = _save(key, name, body, given, request)
        kept = plain.STORE.read(key)
        plain.STORE.write(key, {**kept, "label": GRAVES[key].get("label", kept.get("label", ""))})
        return {**answer, "properties": plain.encode(plain.shown(plain.STORE.read(key), body, name))}
    if wrong("repeat-refused") and plain.STORE.read(key) is not None:
        raise Refused(fault("Conflict", "it is there already", "$.properties.name"))
    answer = _save(key, name, body, given, request)
    if wrong("M44") or wrong("M45"):
        CACHE[key] = plain.STORE.read(key)
    return answer


def doubled(key, name, body, given, request):
    """Of saves that find nothing at the same time each makes an object; one of them is never found again."""
    ABSENT[key] = ABSENT.get(key, 0) + 1
    threading.Event().wait(0.03)
    several = ABSENT[key] > 1
    answer = _save(key, name, body, given, request)
    ABSENT[key] -= 1
    if several:
        plain.STORE.write(json.dumps([name, given["name"], "double"]), plain.STORE.read(key))
    return answer


class LateStore(plain.Store):
    """Shows to readers what was there a moment ago."""

    BEHIND = 0.05

    def __init__(self, folder):
        super().__init__(folder)
        self.past = {}
        self.reader = threading.local()

    def read(self, key):
        """The state, or for a reader the one that was there a moment ago."""
        if getattr(self.reader, "late", False):
            moment = time.monotonic() - self.BEHIND
            later = [value for at, value in self.past.get(key, []) if at > moment]
            if later:
                return copy.deepcopy(later[0])
        return super().read(key)

    def keep(self, key):
        """Remember what is there before a change."""
        self.past.setdefault(key, []).append((time.monotonic(), super().read(key)))

    def write(self, key, value):
        """See `plain.Store`."""
        self.keep(key)
        super().write(key, value)

    def remove(self, key):
        """See `plain.Store`."""
        self.keep(key)
        super().remove(key)


def late(serve):
    """A verb that reads what was there a moment ago."""

    def reading(*args):
        plain.STORE.reader.late = True
        try:
            return serve(*args)
        finally:
            plain.STORE.reader.late = False

    return reading


def odd_answer(answer):
    """The answer with what differs by design."""
    properties = answer.get("properties") or {}
    if wrong("H7") and "size" in properties:
        properties["badge"] = random.randrange(10**6)
    spec = properties.get("spec")
    if wrong("H9") and isinstance(spec, dict) and isinstance(spec.get("ports"), list):
        random.shuffle(spec["ports"])
    return answer


def config_id(config):
    """As in the plain one, or guessed from what is not known."""
    if wrong("guesses-config-id") and isinstance(config.get("endpoint"), Unknown):
        return "plain-0000000000000000"
    return _config_id(config)


READ_ONLIES = ("touched", "serial", "revision", "code", "status")


def preview_save(key, name, body, given, request):
    """As in the plain one, or with a flaw."""
    if wrong("M20"):
        _save(key, name, body, {k: v for k, v in given.items() if not list(plain.unknowns(v, ()))}, request)
    if wrong("M20-update") and (old := plain.STORE.read(key)) is not None:
        plain.STORE.write(key, {**old, **({"revision": 99} if name == "box@1.0" else {"extra": "previewed"})})
    if wrong("M29"):
        return stand_in(key, name, body, given)
    if wrong("M30"):
        known = {k: v for k, v in given.items() if not isinstance(v, Unknown) or k in ("spec", "size")}
        return _preview(key, name, body, known, request)
    if wrong("M27"):
        given = without_marked_items(given)
    if wrong("nulls-unknown"):
        given = {k: None if isinstance(v, Unknown) and k not in ("spec", "size") else v for k, v in given.items()}
    answer = _preview(key, name, body, given, request)
    if wrong("M34"):
        hide = (k for k in answer["properties"] if k not in ("name", "spec"))
        answer["properties"].update({k: {"$unknown": {}} for k in hide})
        if isinstance(answer["properties"].get("spec"), dict):
            answer["properties"]["spec"] = {k: {"$unknown": {}} for k in answer["properties"]["spec"]}
        answer.pop("metadata", None)
    if wrong("drops-expressions"):
        text = json.dumps(answer["properties"]).replace('"expression": "[reference(\'elsewhere\').value]"', "")
        answer["properties"] = json.loads(text)
    flawed_metadata(answer)
    return answer


def flawed_metadata(answer):
    if wrong("metadata-pointers"):
        answer.setdefault("metadata", {})["unknown"] = ["/properties/size"]
    if wrong("metadata-nowhere"):
        answer.setdefault("metadata", {}).setdefault("unknown", []).append("$.properties.nowhere")
    if wrong("metadata-twice"):
        answer["metadata"] = {"immutable": ["$.properties.name"], "unknown": ["$.properties.name"]}
    if wrong("metadata-against-type"):
        answer.setdefault("metadata", {})["readOnly"] = ["$.properties.name"]
    if wrong("previews-differ"):
        answer["properties"]["label" if "size" in answer["properties"] else "extra"] = f"{random.random()}"


def stand_in(key, name, body, given):
    """Computes with zeros and dashes in place of what is not known, and shows the outcome as known."""
    shell = {k: 0 if k == "size" and isinstance(v, Unknown) else v for k, v in given.items()}
    if isinstance(shell.get("spec"), dict):
        shell["spec"] = {k: "-" if k == "title" and isinstance(v, Unknown) else v for k, v in shell["spec"].items()}
    made, _ = plain.aimed(key, name, body, shell, preview=True)
    properties = plain.shown(made, body, name)
    if isinstance(given.get("size"), Unknown):
        properties["size"] = given["size"]
    if isinstance(given.get("spec"), dict) and isinstance(given["spec"].get("title"), Unknown):
        properties["spec"]["title"] = given["spec"]["title"]
    return {"properties": plain.encode(properties)}


def without_marked_items(value):
    if isinstance(value, dict):
        return {k: without_marked_items(v) for k, v in value.items()}
    if isinstance(value, list):
        return [without_marked_items(item) for item in value if not list(plain.unknowns(item, ()))]
    return value


def get(key, name, body, given, request):
    """As in the plain one, or with a flaw."""
    if wrong("M22"):
        answer = _get(key, name, body, given, request)
        _delete(key, name, body, given, request)
        return answer
    if wrong("counts-reads") and name == "box@1.0" and (found := plain.STORE.read(key)) is not None:
        plain.STORE.write(key, {**found, "revision": next(READS)})
    if wrong("M37"):
        kept = CACHE.get(key)
        if kept is not None and time.monotonic() < kept[0]:
            return copy.deepcopy(kept[1])
        answer = _get(key, name, body, given, request)
        CACHE[key] = (time.monotonic() + 5, copy.deepcopy(answer))
        return answer
    there = plain.STORE.read(key)
    if (wrong("M44") and there is not None and key in CACHE) or (wrong("M45") and there is None and key in CACHE):
        return {"properties": plain.encode(plain.shown(CACHE[key], body, name))}
    if wrong("M47") and key in HIDDEN:
        raise Refused(fault("ResourceNotFound", "there is no such object", "$.properties.name"))
    return _get(key, name, body, given, request)


def delete(key, name, body, given, request):
    """As in the plain one, or with a flaw."""
    there = plain.STORE.read(key)
    if there is not None:
        GRAVES[key] = there
    if wrong("M44") or wrong("M45"):
        CACHE.pop(key, None)
    if wrong("M48") and there is None:
        raise Refused(fault("ResourceNotFound", "there is no such object", "$.properties.name"))
    if wrong("M47"):
        HIDDEN[key] = True
        return {"properties": None}
    if wrong("deletes-nothing"):
        return {"properties": None}
    if DOUBLES.get(key):
        DOUBLES[key] -= 1
        return {"properties": None}
    if wrong("M50"):
        for other in names_of(name):
            if other.startswith(given["name"]):
                plain.STORE.remove(json.dumps([name, other]))
    return _delete(key, name, body, given, request)


def names_of(type_):
    """The names of all objects of a type."""
    store = plain.STORE
    if store.folder is None:
        found = [json.loads(key) for key in store.memory]
        return [name for kind, name in found if kind == type_]
    bodies = [(place.name, json.loads(place.read_text())) for place in store.folder.glob("*.json")]
    keys = ([type_, body["name"], *more] for _, body in bodies for more in ((), ("double",)))
    files = {store.file(json.dumps(key)) for key in keys}
    return [body["name"] for file, body in bodies if file in files]


def check(value, type_, path, lax=False):
    """As in the plain one; M26 checks the marker against the type of what it stands for."""
    if wrong("M26") and isinstance(value, Unknown) and type_["$type"] != "AnyType":
        yield fault("InvalidProperty", "expected another kind of value", path_of(path))
        return
    yield from _check(value, type_, path, lax)


def resource(method, params, request):
    """As in the plain one, or with a flaw in front of it."""
    verb = method.partition("/")[2]
    properties = params.get("properties") if isinstance(params, dict) else None
    if isinstance(properties, dict):
        params = before(verb, params, properties)
        if params is None:
            return {"properties": None, "identifiers": {}}
    there = verb == "save" and isinstance(properties, dict) and known(params, properties)
    try:
        answer = _resource(method, params, request)
    except Refused as refused:
        if wrong("other-code-in-preview") and verb == "previewSave":
            refused.data["errors"] = [{**item, "code": "InvalidRequest"} for item in refused.data["errors"]]
        if wrong("unknown-elsewhere") and refused.data["errors"][0]["code"] == "UnknownValueNotAllowed":
            refused.data["errors"] = [{**item, "path": "$.properties"} for item in refused.data["errors"]]
        raise
    if wrong("other-name-again") and there:
        answer["identifiers"] = {"name": f"{answer['identifiers']['name']}-{next(READS)}"}
    return answer


def known(params, properties):
    """Whether there is an object of that name."""
    return plain.STORE.read(json.dumps([str(params.get("type")).lower(), properties.get("name")])) is not None


def before(verb, params, properties):
    """The params with which to go on; ``None`` when the delete is done."""
    name = properties.get("name")
    marked = isinstance(name, dict) and set(name) == {"$unknown"}
    if wrong("M31") and verb == "previewSave" and marked:
        return {**params, "properties": {**properties, "name": "unnamed"}}
    if wrong("M32") and verb == "save" and not marked:
        return {**params, "properties": without_markers(properties)}
    if wrong("unknown-name-is-invalid") and marked and verb == "previewSave":
        raise Refused(fault("InvalidProperty", "expected a text", "$.properties.name"))
    if wrong("preview-refuses-labels") and verb == "previewSave" and "label" in properties:
        raise Refused(fault("InvalidProperty", "labels cannot be previewed", "$.properties.label"))
    if wrong("malformed-is-deleted") and verb == "delete" and not isinstance(name, str):
        return None
    if wrong("absent-is-error") and verb == "delete" and isinstance(name, str):
        key = json.dumps([params["type"].lower(), name])
        if plain.STORE.read(key) is None and key not in GRAVES:
            raise Refused(fault("ResourceNotFound", "there never was such an object", "$.properties.name"))
    if isinstance(name, str):
        if wrong("folds-case"):
            return {**params, "properties": {**properties, "name": name.lower()}}
        if wrong("folds-separators"):
            return {**params, "properties": {**properties, "name": name.replace("_", "-")}}
    return params


def without_markers(value):
    """Takes a marker as the text of it."""
    if isinstance(value, dict):
        if set(value) == {"$unknown"}:
            return "$unknown"
        return {k: without_markers(v) for k, v in value.items()}
    return [without_markers(item) for item in value] if isinstance(value, list) else value


def fail(injected, verb, given, key, body, request):
    """As in the plain one, or with a flaw."""
    if injected["fault"] == "delete-fails" and verb == "delete":
        if wrong("M52"):
            plain.STORE.remove(key)
        if wrong("failure-swallowed"):
            raise Swallowed
    _fail(injected, verb, given, key, body, request)


class Swallowed(Exception):
    """Ends in a result."""


def probe(folder, verb):
    """Looks at the store, and changes it, behind the provider's back."""
    plain.STORE = plain.Store(folder)
    question = json.load(sys.stdin)
    key = json.dumps([question["type"].lower(), question["identifiers"].get("name")])
    if verb == "list":
        return {"objects": [{"name": name} for name in names_of(question["type"].lower())]}
    found = plain.STORE.read(key)
    if verb == "mutate":
        plain.STORE.write(key, {**found, **question["change"]})
    elif verb == "remove":
        plain.STORE.remove(key)
    return {"exists": found is not None} if verb == "exists" else {}


def swallowing(method, params, request):
    """`resource`, with swallowed failures answered as if nothing had been."""
    try:
        return odd_answer(resource(method, params, request))
    except Swallowed:
        return {"properties": None, "identifiers": {"name": params["properties"]["name"]}}


for patched in (aimed, merged, save, preview_save, get, delete, check, fail, config_id):
    setattr(plain, patched.__name__, patched)
plain.resource = swallowing
if wrong("H1"):
    plain.STORE = LateStore(plain.option("--store"))
    plain.get, plain.preview_save = late(get), late(preview_save)

if __name__ == "__main__":
    if sys.argv[1:2] == ["probe"]:
        json.dump(probe(Path(sys.argv[2]), sys.argv[3]), sys.stdout)
    else:
        plain.main()
