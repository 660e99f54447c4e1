"""A correct provider in plain Python, without the SDK, and the ways in which it can be wrong, one switch each.

    plain.py [--store DIR] [--listen unix:PATH | --listen tcp:127.0.0.1:PORT | --socket PATH] [--mutant NAME]

The environment's `MUTANT` names the mutant too; none is the reference. Objects live in memory, or as one file each in
the folder of `--store`. A box whose label is ``slow`` takes one second to save. The fault hook of the conformance kit
(`EXTENSOR_TEST_FAULTS`) is read at each operation.
"""

import base64
import contextlib
import copy
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import uuid
from datetime import UTC, datetime
from pathlib import Path

NAME, VERSION = "plain", "1.2.0"
LIMIT, CONCURRENT, DEEPEST = 4 * 1024 * 1024, 256, 128
VERBS = {"resource/save", "resource/previewSave", "resource/get", "resource/delete"}
REQUIRED, READ_ONLY, WRITE_ONLY, IDENTIFIER = 1, 2, 4, 16


def option(name):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None


MUTANT = option("--mutant") or os.environ.get("MUTANT", "")


def wrong(name):
    """Whether the provider is to be wrong in this way."""
    return name == MUTANT


def log(text):
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


# -- types ------------------------------------------------------------------------------------------------------------

TYPES = []


def add(**members):
    members = {"$type": members.pop("kind"), **{key: value for key, value in members.items() if value is not None}}
    TYPES.append(members)
    return {"$ref": f"#/{len(TYPES) - 1}"}


def field(ref, flags=0, description=None):
    return {"type": ref, "flags": flags, **({"description": description} if description else {})}


ANY = add(kind="AnyType")
TEXT = add(kind="StringType")
SECRET = add(kind="StringType", sensitive=True)
NUMBER = add(kind="IntegerType")
YES = add(kind="BooleanType")
COLORS = add(
    kind="UnionType", elements=[add(kind="StringLiteralType", value=color) for color in ("red", "green", "blue")]
)
ID = add(kind="StringType", minLength=1, maxLength=64)
if wrong("dropped-color"):
    COLORS = None
BOX = add(
    kind="ObjectType",
    name="Box",
    properties={
        "name": field(ID, REQUIRED | IDENTIFIER, "Names the box."),
        "size": field(add(kind="IntegerType", minValue=0, maxValue=1000), REQUIRED),
        "count": field(NUMBER),
        **({"color": field(COLORS, 0, "Defaults to `red`.")} if COLORS else {}),
        "label": field(TEXT),
        "zone": field(TEXT, 0, "Where it stands. (immutable)"),
        "password": field(TEXT if wrong("open-password") else SECRET, WRITE_ONLY),
        "code": field(TEXT, READ_ONLY),
        "touched": field(TEXT, READ_ONLY, "When it was saved. (calculated)"),
    },
)
PORT = add(
    kind="ObjectType",
    name="Port",
    properties={
        "name": field(add(kind="StringType", pattern="^[a-z]{1,12}$"), REQUIRED),
        "number": field(add(kind="IntegerType", minValue=1, maxValue=65535), REQUIRED),
    },
)
SPEC = add(
    kind="ObjectType",
    name="Spec",
    properties={
        "title": field(add(kind="StringType", minLength=1, maxLength=200), REQUIRED),
        "depth": field(add(kind="IntegerType", minValue=1, maxValue=50), 0, "Default: 10."),
        "open": field(YES),
        "ports": field(add(kind="ArrayType", itemType=PORT, maxLength=5)),
        "labels": field(add(kind="ObjectType", name="Labels", properties={}, additionalProperties=TEXT)),
        "material": field(TEXT, 0, "What it is made of. (immutable)"),
        "token": field(SECRET, WRITE_ONLY),
    },
)
STATUS = add(
    kind="ObjectType", name="Status", properties={"ready": field(YES), "summary": field(TEXT), "ports": field(NUMBER)}
)
SHELF = add(
    kind="ObjectType",
    name="Shelf",
    properties={
        "name": field(ID, REQUIRED | IDENTIFIER),
        "spec": field(SPEC, REQUIRED),
        "extra": field(ANY),
        "status": field(STATUS, READ_ONLY),
    },
)
CONFIG = add(
    kind="ObjectType", name="Config", properties={"endpoint": field(TEXT), "apiKey": field(SECRET, 0, "A key.")}
)
INDEX = {
    "resources": {
        f"{name}@1.0": {
            "$ref": "types.json#"
            + add(kind="ResourceType", name=f"{name}@1.0", body=body, readableScopes=31, writableScopes=31)["$ref"][1:]
        }
        for name, body in (("box", BOX), ("shelf", SHELF))
    },
    "resourceFunctions": {},
    "namespaceFunctions": [],
    "settings": {
        "name": NAME,
        "version": VERSION,
        "isSingleton": False,
        "configurationType": {"$ref": "types.json#" + CONFIG["$ref"][1:]},
    },
}
BODIES = {"box@1.0": BOX, "shelf@1.0": SHELF}


def type_at(ref):
    return TYPES[int(ref["$ref"][2:])]


def type_files():
    types, index = json.dumps(TYPES), json.dumps(INDEX)
    if wrong("type-order"):
        names = sorted(INDEX["resources"], key=lambda _: os.urandom(2))
        marked = {**INDEX, "resources": {name: INDEX["resources"][name] for name in names}}
        index = json.dumps({**marked, "settings": {**INDEX["settings"], "stamp": uuid.uuid4().hex}})
    if wrong("dangling-ref"):
        types = types.replace('{"$ref": "#/0"}', '{"$ref": "#/999"}')
    if wrong("hash-order"):
        types += " ".join({"red", "green", "blue", "black", "white"}) and " " * (hash("types") % 1000)
    return {"indexFile": index, "typeFiles": {"types.json": types}}


# -- errors -----------------------------------------------------------------------------------------------------------


class Refused(Exception):
    """Becomes an error answer."""

    def __init__(self, *faults, number=-32010, message=None, **data):
        self.number = number
        self.message = message or faults[0]["message"]
        self.data = {"errors": list(faults), "transient": False, **data}


def fault(code, message, path=None):
    return {"code": code, "message": message, **({"path": path} if path else {})}


def path_of(parts):
    text = "$"
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", part):
            text += f".{part}"
        else:
            quoted = "".join(_escaped(char) for char in part)
            text += f"['{quoted}']"
    return text


def _escaped(char):
    if char in "'\\":
        return f"\\{char}"
    if char < " " or "\ud800" <= char <= "\udfff":
        return f"\\u{ord(char):04x}"
    return char


# -- values -----------------------------------------------------------------------------------------------------------


class Unknown:
    """Not known yet."""

    def __init__(self, content):
        self.content = content


def decode(value, path):
    if isinstance(value, dict):
        if len(value) == 1:
            (key, inner), *_ = value.items()
            if re.fullmatch(r"\$+unknown", key):
                if key != "$unknown":
                    return {key[1:]: decode(inner, (*path, key))}
                if inner != {} and not (
                    isinstance(inner, dict) and set(inner) == {"expression"} and isinstance(inner["expression"], str)
                ):
                    raise Refused(fault("InvalidRequest", "this is no marker", path_of(path)))
                return Unknown(inner)
        return {key: decode(item, (*path, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [decode(item, (*path, index)) for index, item in enumerate(value)]
    return value


def encode(value):
    if isinstance(value, Unknown):
        return {"$unknown": value.content}
    if isinstance(value, dict):
        if len(value) == 1 and re.fullmatch(r"\$+unknown", next(iter(value))):
            (key, inner), *_ = value.items()
            return {f"${key}": encode(inner)}
        return {key: encode(item) for key, item in value.items()}
    return [encode(item) for item in value] if isinstance(value, list) else value


def unknowns(value, path):
    if isinstance(value, Unknown):
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from unknowns(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from unknowns(item, (*path, index))


def check(value, type_, path, lax=False):
    """Faults of a value, in the document's order."""
    if isinstance(value, Unknown):
        return
    kind = type_["$type"]
    if kind == "ObjectType":
        yield from check_object(value, type_, path, lax)
    elif kind == "ArrayType":
        if not isinstance(value, list):
            yield fault("InvalidProperty", "expected an array", path_of(path))
            return
        if len(value) > type_.get("maxLength", len(value)):
            yield fault("InvalidProperty", f"at most {type_['maxLength']} items", path_of(path))
        for index, item in enumerate(value):
            yield from check(item, type_at(type_["itemType"]), (*path, index), lax)
    elif kind == "UnionType":
        allowed = [type_at(item)["value"] for item in type_["elements"]]
        if not isinstance(value, str) or value not in allowed:
            yield fault("InvalidProperty", f"expected one of {', '.join(allowed)}", path_of(path))
    elif kind != "AnyType" and (trouble := check_leaf(value, type_)):
        yield fault("InvalidProperty", trouble, path_of(path))


def check_leaf(value, type_):
    kind = type_["$type"]
    if kind == "BooleanType":
        return None if isinstance(value, bool) else "expected true or false"
    if kind == "IntegerType":
        if not isinstance(value, int | float) or isinstance(value, bool) or value != int(value):
            return "expected a whole number"
        return None if type_.get("minValue", value) <= value <= type_.get("maxValue", value) else "is out of bounds"
    if not isinstance(value, str):
        return "expected a text"
    if not type_.get("minLength", 0) <= len(value) <= type_.get("maxLength", len(value)):
        return "has the wrong length"
    pattern = type_.get("pattern")
    return f"does not match {pattern}" if pattern and not re.search(pattern, value) else None


def check_object(value, type_, path, lax):
    if not isinstance(value, dict):
        yield fault("InvalidProperty", "expected an object", path_of(path))
        return
    table, other = type_["properties"], type_.get("additionalProperties")
    for key, item in value.items():
        place = (*path, key)
        if key in table:
            required = table[key]["flags"] & REQUIRED
            if table[key]["flags"] & READ_ONLY:
                if item is not None and not wrong("read-only-taken"):
                    yield fault("ReadOnlyProperty", "is set by the provider", path_of(place))
            elif item is None and not required:
                continue
            else:
                yield from check(item, type_at(table[key]["type"]), place, lax)
        elif other is not None:
            yield from check(item, type_at(other), place, lax)
        elif not lax:
            yield fault("UnknownProperty", "is not known here", path_of(place))
    for key, item in table.items():
        if item["flags"] & REQUIRED and key not in value:
            yield fault("MissingProperty", "is required", path_of((*path, key)))


def without(value, type_, flag, nulls=False):
    """A copy without the properties that have a flag."""
    if type_["$type"] == "ArrayType" and isinstance(value, list):
        return [without(item, type_at(type_["itemType"]), flag, nulls) for item in value]
    if type_["$type"] != "ObjectType" or not isinstance(value, dict):
        return value
    table, made = type_["properties"], {}
    for key, item in value.items():
        if key in table and (table[key]["flags"] & flag or (nulls and item is None)):
            continue
        made[key] = without(item, type_at(table[key]["type"]), flag, nulls) if key in table else item
    return made


def merged(old, new, type_):
    """What is left out stays; objects with named properties are merged, all else is replaced."""
    if type_["$type"] != "ObjectType" or not isinstance(old, dict) or not isinstance(new, dict):
        return new
    table = type_["properties"]
    if not table:
        return new
    made = dict(old)
    for key, item in new.items():
        made[key] = merged(old.get(key), item, type_at(table[key]["type"])) if key in table else item
    return made


def immutable_changes(old, new, type_, path):
    for key, item in type_["properties"].items():
        if key not in new:
            continue
        inner = type_at(item["type"])
        if item.get("description", "").endswith("(immutable)"):
            if old.get(key) != new[key] and not isinstance(new[key], Unknown):
                yield fault("ImmutableProperty", "cannot be changed", path_of((*path, key)))
        elif inner["$type"] == "ObjectType" and isinstance(new[key], dict) and isinstance(old.get(key), dict):
            yield from immutable_changes(old[key], new[key], inner, (*path, key))


# -- the store --------------------------------------------------------------------------------------------------------


class Store:
    """Objects by type and identity, in memory or in a folder."""

    def __init__(self, folder):
        self.folder = Path(folder) if folder else None
        self.memory = {}
        self.locks = {}
        self.guard = threading.Lock()
        if self.folder:
            self.folder.mkdir(parents=True, exist_ok=True)

    def lock(self, key):
        if wrong("no-lock") or wrong("blend"):
            return contextlib.nullcontext()
        with self.guard:
            return self.locks.setdefault("" if wrong("global-lock") else key, threading.RLock())

    def read(self, key):
        if wrong("memory-only") or not self.folder:
            return copy.deepcopy(self.memory.get(key))
        try:
            return json.loads((self.folder / self.file(key)).read_text())
        except FileNotFoundError:
            return None

    def write(self, key, value):
        if wrong("memory-only") or not self.folder:
            self.memory[key] = copy.deepcopy(value)
            return
        place, text = self.folder / self.file(key), json.dumps(value)
        if wrong("torn-write") or wrong("written-in-place"):
            with place.open("w") as file:
                for start in range(0, len(text), 16):
                    file.write(text[start : start + 16])
                    file.flush()
                    threading.Event().wait(0.002)
            return
        handle, name = tempfile.mkstemp(dir=self.folder)
        with os.fdopen(handle, "w") as file:
            file.write(text)
        Path(name).replace(place)

    def remove(self, key):
        if wrong("memory-only") or not self.folder:
            self.memory.pop(key, None)
        else:
            (self.folder / self.file(key)).unlink(missing_ok=True)

    def file(self, key):
        return hashlib.sha256(key.encode()).hexdigest()[:40] + ".json"


STORE = Store(option("--store"))


# -- the four verbs ---------------------------------------------------------------------------------------------------


class Request:
    """One request under way; answered once."""

    def __init__(self, message, client):
        self.message, self.client = message, client
        self.cancelled = threading.Event()
        self.arrived = time.monotonic()
        self.deadline = None

    def wait(self, seconds):
        """Let time pass. Raises `Refused` when the request is cancelled or its time is over."""
        end = time.monotonic() + seconds
        until = min(end, self.deadline) if self.deadline and not wrong("no-deadline") else end
        if self.cancelled.wait(max(0.0, until - time.monotonic())):
            raise Refused(fault("Canceled", "was cancelled"), number=-32800)
        if until < end:
            raise Refused(fault("DeadlineExceeded", "the time is over"))


def resource(method, params, request):
    verb = method.partition("/")[2]
    faults = list(check_envelope(params))
    if faults:
        raise Refused(*faults, number=-32602)
    imported, context = params["import"], params.get("context") or {}
    if isinstance(context, dict) and isinstance(context.get("deadlineSeconds"), int | float):
        request.deadline = request.arrived + context["deadlineSeconds"]
    name, kind = kind_of(params, imported)
    preview = verb == "previewSave"
    config = config_of(imported, preview)
    known_id = config_id(config)
    asked = imported.get("configId")
    if asked is not None and asked != known_id and not wrong("config-id-ignored"):
        raise Refused(fault("ConfigMismatch", "this names another control plane", "$.import.configId"))
    if wrong("no-delete") and verb == "delete" and name == "shelf@1.0":
        raise Refused(fault("OperationNotSupported", "there is no delete"))
    given = decode(params["properties"], ("properties",))
    if isinstance(given, Unknown):
        raise Refused(fault("UnknownValueNotAllowed", "must be known", "$.properties"))
    body = type_at(kind)
    if verb in ("get", "delete"):
        given = {key: value for key, value in given.items() if key == "name" or isinstance(value, Unknown)}
    if not preview and (found := list(unknowns(given, ("properties",)))):
        raise Refused(*(fault("UnknownValueNotAllowed", "must be known", path_of(path)) for path in found))
    if verb in ("get", "delete"):
        faults = list(
            check(
                {"name": given.get("name")},
                {**body, "properties": {"name": body["properties"]["name"]}},
                ("properties",),
            )
        )
        if "name" not in given:
            faults = [fault("MissingProperty", "is required", "$.properties.name")]
    else:
        lax = wrong("lax-extra")
        faults = [] if preview and wrong("lax-preview") else list(check(given, body, ("properties",), lax))
        if wrong("too-tight") and given.get("color") in ("green", "blue"):
            faults.append(fault("InvalidProperty", "not in stock", "$.properties.color"))
    if wrong("secret-in-log"):
        log(f"{verb} {params['properties']}")
    if faults and wrong("secret-in-error"):
        faults = [{**item, "message": f"{item['message']}: {params['properties']}"} for item in faults]
    if faults and wrong("version-guard"):
        raise Refused(fault("UnsupportedVersion", "wrong version", "$.import.version"))
    if faults:
        raise Refused(*told(faults))
    identity = given["name"]
    if isinstance(identity, Unknown):
        raise Refused(fault("PreviewNotSupported", "the name is not known", "$.properties.name"))
    key = json.dumps([name, identity])
    injected = injection(verb)
    if injected:
        with STORE.lock(key) if wrong("global-lock") else contextlib.nullcontext():
            fail(injected, verb, given, key, body, request)
    handler = {"save": save, "previewSave": preview_save, "get": get, "delete": delete}[verb]
    answer = handler(key, name, body, given, request)
    answer["identifiers"] = {"name": identity}
    if wrong("identifier-case") and verb == "get":
        answer["identifiers"] = {"name": identity.upper()}
    if known_id:
        answer["configId"] = known_id
    if wrong("config-echo") and config.get("apiKey"):
        answer["configId"] = f"{known_id}-{config['apiKey']}"
    return answer


def check_envelope(params):
    if not isinstance(params, dict):
        yield fault("InvalidRequest", "expected an object", "$")
        return
    imported = params.get("import")
    if not isinstance(imported, dict):
        yield fault("InvalidRequest", "expected an object", "$.import")
    else:
        for key in ("provider", "version"):
            if not isinstance(imported.get(key), str):
                yield fault("InvalidRequest", "expected a text", f"$.import.{key}")
    if not isinstance(params.get("type"), str):
        yield fault("InvalidRequest", "expected a text", "$.type")
    if not isinstance(params.get("properties"), dict):
        yield fault("InvalidRequest", "expected an object", "$.properties")


def kind_of(params, imported):
    if imported["provider"].lower() != NAME:
        raise Refused(fault("InvalidRequest", f"this is {NAME}", "$.import.provider"))
    version = re.match(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?", imported["version"])
    parts = tuple(int(part or 0) for part in version.groups()) if version else (99,)
    if parts[0] != 1 or parts > (1, 2, 0):
        raise Refused(fault("UnsupportedVersion", f"this is {VERSION}", "$.import.version"))
    stem, _, number = params["type"].rpartition("@")
    prefix, _, bare = stem.rpartition(":")
    if prefix and prefix.lower() != NAME:
        raise Refused(fault("InvalidRequest", f"this is {NAME}", "$.type"))
    name = f"{bare.lower()}@{number}"
    if wrong("any-api-version") and stem:
        name = f"{bare.lower()}@1.0"
    if name not in BODIES:
        path = None if wrong("type-without-path") else "$.type"
        raise Refused(fault("UnknownResourceType", "there is no such type", path))
    return name, BODIES[name]


def config_of(imported, preview):
    config = decode(imported.get("config") or {}, ("import", "config"))
    faults = list(check(config, type_at(CONFIG), ("import", "config")))
    if not preview:
        places = unknowns(config, ("import", "config"))
        faults += [fault("UnknownValueNotAllowed", "must be known", path_of(path)) for path in places]
    if faults:
        raise Refused(*faults)
    return config


def config_id(config):
    endpoint = config.get("endpoint")
    if isinstance(endpoint, Unknown) or (endpoint is None and not config.get("apiKey")):
        return None
    about = endpoint or "here"
    if wrong("config-id-of-secret"):
        about += str(config.get("apiKey"))
    return "plain-" + hashlib.sha256(about.encode()).hexdigest()[:16]


def told(faults):
    if wrong("root-path"):
        faults = [{**item, "path": "$.properties"} for item in faults]
    if wrong("changing-code"):
        faults = [{**item, "code": f"Fault{time.monotonic_ns() % 1000}"} for item in faults]
    return faults[:1] if wrong("first-fault") else faults


def shown(value, body, name):
    """The whole object as a result shows it."""
    made = without(copy.deepcopy(value), body, WRITE_ONLY)
    if wrong("write-only-echo"):
        made = copy.deepcopy(value)
    if name == "box@1.0":
        made["code"] = "" if isinstance(made["size"], Unknown) else f"{made['name']}-{made['size']}"
        if isinstance(made["size"], Unknown):
            made["code"] = Unknown({})
        if wrong("digest-shown") and value.get("password"):
            made["code"] = hashlib.sha256(value["password"].encode()).hexdigest()
        if wrong("secret-in-base64") and value.get("password"):
            made["code"] = base64.b64encode(value["password"].encode()).decode()
    else:
        made["status"] = status_of(made)
    return made


def status_of(made):
    spec = made["spec"]
    if isinstance(spec, Unknown):
        return Unknown({})
    ports = spec.get("ports") or []
    title = spec.get("title")
    return {
        "ready": True,
        "summary": Unknown({}) if isinstance(title, Unknown) else title,
        "ports": Unknown({}) if isinstance(ports, Unknown) else len(ports),
    }


def defaulted(value, name, preview=False):
    made = copy.deepcopy(value)
    if name == "box@1.0":
        if COLORS:
            made.setdefault("color", "blue" if wrong("other-default") else "red")
        made.setdefault("touched", datetime.now(UTC).isoformat())
    elif isinstance(made["spec"], dict):
        made["spec"].setdefault("depth", 11 if wrong("other-default-in-preview") and preview else 10)
    return made


def aimed(key, name, body, given, preview=False):
    """The object as it will be, and as it is."""
    old = STORE.read(key)
    new = without(given, body, READ_ONLY, nulls=True)
    if old is not None and not wrong("immutable-changes") and not (preview and wrong("immutable-unseen")):
        faults = list(immutable_changes(old, new, body, ("properties",)))
        if faults:
            raise Refused(*faults)
    made = defaulted(merged(old, new, body) if old is not None else new, name, preview)
    if name == "box@1.0" and old is not None and made == old:
        return old, old
    if name == "box@1.0":
        made["touched"] = datetime.now(UTC).isoformat()
    return made, old


SHARED = {}


def altered(value):
    """A value as a careless backend would keep it."""
    if wrong("rounds-integers") and isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53:
        return int(float(value))
    if isinstance(value, str):
        if wrong("cuts-at-nul"):
            return value.partition("\0")[0]
        if wrong("normalises-text"):
            import unicodedata

            return unicodedata.normalize("NFC", value)
    if isinstance(value, dict):
        return {key: altered(item) for key, item in value.items() if key or not wrong("drops-empty-names")}
    return [altered(item) for item in value] if isinstance(value, list) else value


def save(key, name, body, given, request):
    with STORE.lock(key):
        made, old = aimed(key, name, body, given)
        if made.get("label") == "slow":
            if wrong("half-cancel"):
                STORE.write(key, {**made, "label": "half"})
            request.wait(1.0)
        if wrong("shared-default"):
            SHARED.update(copy.deepcopy({part: value for part, value in made.items() if part != "name"}))
            threading.Event().wait(0.05)
            made = {**made, **{part: SHARED[part] for part in made if part in SHARED}}
        if wrong("no-lock") and old is None:
            threading.Event().wait(0.02)
            if STORE.read(key) is not None:
                raise Refused(fault("Conflict", "it is there already"))
        if wrong("blend"):
            for part in sorted(made):
                STORE.write(key, {**(STORE.read(key) or made), part: made[part]})
                threading.Event().wait(0.003)
        elif made != old:
            STORE.write(key, altered(made))
            if wrong("torn-read") and old is not None:
                first = next((part for part in made if made[part] != old.get(part) and part != "touched"), None)
                STORE.write(key, {**old, "label": f"torn {first}"} if name == "box@1.0" else {**old, "extra": "torn"})
                threading.Event().wait(0.03)
                STORE.write(key, altered(made))
        leaks(given)
        return {"properties": encode(shown(STORE.read(key) or made, body, name))}


def leaks(given):
    password = given.get("password")
    if wrong("secret-in-argv") and password:
        subprocess.Popen(["/bin/sh", "-c", "sleep 3; true", str(password)])
    if wrong("secret-file") and password:
        Path("leftover.txt").write_text(str(password))


def preview_save(key, name, body, given, request):
    del request
    made, old = aimed(key, name, body, given, preview=True)
    metadata = {}
    if name == "box@1.0" and made is not old:
        metadata["calculated"] = ["$.properties.touched"]
    properties = shown(made, body, name)
    found = [path_of(path) for path in unknowns(properties, ("properties",))]
    echoed = {path_of(path) for path in unknowns(given, ("properties",))}
    if any(path not in echoed for path in found):
        metadata["unknown"] = [path for path in found if path not in echoed]
    return {"properties": encode(properties), **({"metadata": metadata} if metadata else {})}


LEAKED = []


def get(key, name, body, given, request):
    del given, request
    if wrong("leaks-descriptors"):
        LEAKED.append(os.open(os.devnull, os.O_RDONLY))
    if wrong("leaks-threads"):
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    if wrong("leaks-memory"):
        LEAKED.append(bytearray(os.urandom(64)) * 2048)
    if wrong("slow-gets"):
        threading.Event().wait(0.03)
    with STORE.lock(key) if wrong("global-lock") else contextlib.nullcontext():
        found = STORE.read(key)
    if found is None:
        if wrong("null-when-absent"):
            return {"properties": None}
        code = "InternalError" if wrong("absent-is-internal") else "ResourceNotFound"
        raise Refused(fault(code, "there is no such object", "$.properties.name"))
    return {"properties": encode(shown(found, body, name))}


def delete(key, name, body, given, request):
    del name, body, request
    if wrong("zombie"):
        # looks first and removes what it saw: a save in between leaves half an object
        there = STORE.read(key)
        threading.Event().wait(0.01)
        if there is not None and STORE.read(key) not in (None, there):
            STORE.write(key, {**given, "size": 0, "spec": {"title": "x"}, "zombie": True})
            return {"properties": None}
    with STORE.lock(key):
        STORE.remove(key)
    return {"properties": None}


# -- faults on demand -------------------------------------------------------------------------------------------------

INJECTING = threading.Lock()


def injection(verb):
    place = os.environ.get("EXTENSOR_TEST_FAULTS")
    if not place:
        return None
    with INJECTING:
        try:
            found = json.loads(Path(place).read_text() or "{}")
        except (OSError, ValueError):
            return None
        if not found.get("fault") or found.get("verb", verb) != verb:
            return None
        if "times" in found:
            found["times"] -= 1
            Path(place).write_text(json.dumps(found if found["times"] > 0 else {}))
        return found


def fail(injected, verb, given, key, body, request):
    kind = injected["fault"]
    if kind == "slow":
        request.wait(injected.get("seconds", 2))
    elif kind in ("throttle", "transient"):
        if wrong("throttle-is-internal"):
            raise Refused(fault("InternalError", "the backend answered 429"))
        if wrong("throttle-for-ever"):
            threading.Event().wait(30)
        if wrong("throttled-half"):
            STORE.write(key, defaulted(without(given, body, READ_ONLY), json.loads(key)[0]))
        code = "Throttled" if kind == "throttle" else "Unavailable"
        raise Refused(fault(code, "the backend is busy"), transient=True, retryAfterSeconds=1)
    elif kind == "denied":
        if wrong("denied-is-absent"):
            raise Refused(fault("ResourceNotFound", "there is no such object"))
        raise Refused(fault("PermissionDenied", "the backend refuses access"))
    elif kind == "half-create" and verb == "save":
        made = defaulted(without(given, body, READ_ONLY), json.loads(key)[0])
        if wrong("orphan"):
            STORE.write(key + "-orphan", made)
            raise Refused(fault("Unavailable", "the second step failed"))
        STORE.write(key, made)
        raise Refused(fault("Unavailable", "the second step failed"), resource={"identifiers": {"name": given["name"]}})
    elif kind == "delete-fails" and verb == "delete":
        raise Refused(fault("Unavailable", "the backend keeps it"))
    elif kind == "raise":
        raise ZeroDivisionError(f"division by zero near {given['name']}")


# -- methods ----------------------------------------------------------------------------------------------------------

PLAIN = {
    "provider/ping",
    "provider/listTypes",
    "provider/getConfigType",
    "provider/getTypeFiles",
    "provider/shutdown",
}


def serve(method, params, request):
    if method in PLAIN:
        if not isinstance(params, dict):
            raise Refused(fault("InvalidRequest", "expected an object", "$"), number=-32602)
        return serve_plain(method, request)
    if method == "provider/initialize":
        return initialize(params, request)
    if method == "provider/getType":
        if not isinstance(params, dict) or not isinstance(params.get("type"), str):
            raise Refused(fault("InvalidRequest", "expected a text", "$.type"), number=-32602)
        name = params["type"].lower()
        if name not in BODIES:
            raise Refused(fault("UnknownResourceType", "there is no such type", "$.type"))
        return {"types": TYPES, "type": BODIES[name]}
    if method in VERBS:
        return resource(method, params, request)
    number = -32603 if wrong("method-is-internal") else -32601
    raise Refused(fault("InvalidRequest", f"there is no method {method[:100]}"), number=number)


def serve_plain(method, request):
    if method == "provider/listTypes":
        return {"types": [{"type": name, "operations": ["save", "previewSave", "get", "delete"]} for name in BODIES]}
    if method == "provider/getTypeFiles":
        return type_files()
    if method == "provider/getConfigType":
        return {"types": TYPES, "type": CONFIG}
    if method == "provider/shutdown":
        if wrong("shutdown-for-one"):
            request.client.shut = True
            return {}
        request.client.server.shut = True
        if wrong("shutdown-cuts-others"):
            for other in request.client.server.clients:
                other.gone = other is not request.client
        request.client.server.finish(request, 3)
    return {}


def initialize(params, request):
    if not isinstance(params, dict):
        raise Refused(fault("InvalidRequest", "expected an object", "$"), number=-32602)
    versions = params.get("protocolVersions")
    if versions is None and wrong("no-versions-needed"):
        versions = ["1"]
    if not isinstance(versions, list) or not all(isinstance(item, str) for item in versions):
        raise Refused(fault("InvalidRequest", "expected a list of texts", "$.protocolVersions"), number=-32602)
    token = os.environ.get("EXTENSOR_TOKEN")
    if token and params.get("token") != token and not wrong("any-token"):
        raise Refused(fault("Unauthorized", "the token is wrong", "$.token"))
    if "1" not in versions and not wrong("any-version"):
        data = {} if wrong("versions-untold") else {"supportedVersions": ["1"]}
        raise Refused(fault("InvalidRequest", "none of these versions", "$.protocolVersions"), number=-32602, **data)
    request.client.greeted = True
    return flawed_hello(
        {
            "protocolVersion": "1",
            "provider": {"name": NAME, "version": VERSION},
            "capabilities": {"cancel": True, "progress": False, "batch": True},
            "limits": {"maxMessageBytes": LIMIT, "maxConcurrentRequests": CONCURRENT},
        }
    )


def flawed_hello(hello):
    if wrong("limits-untold"):
        del hello["limits"]
    if wrong("limit-as-text"):
        hello["limits"]["maxMessageBytes"] = "4 MiB"
    if wrong("limit-of-nothing"):
        hello["limits"]["maxConcurrentRequests"] = 0
    if wrong("version-of-two-parts"):
        hello["provider"]["version"] = "1.2"
    if wrong("version-of-its-own"):
        hello["protocolVersion"] = "1.0"
    if wrong("capability-in-words"):
        hello["capabilities"]["cancel"] = "yes"
    return hello


# -- the wire ---------------------------------------------------------------------------------------------------------


class Frames:
    """Cuts frames from bytes; a too long one comes as ``None``."""

    def __init__(self):
        self.buffer = bytearray()
        self.headers = None
        self.skip = 0
        self.skipping = False
        self.length = None
        self.scanned = 0

    def feed(self, data):
        self.buffer += data
        if self.headers is None:
            stripped = bytes(self.buffer[:4096]).lstrip(b" \t\r\n")
            if not stripped:
                self.buffer.clear()
                return
            del self.buffer[: len(self.buffer[:4096]) - len(stripped)]
            self.headers = stripped[:1] not in (b"{", b"[") and not wrong("lines-only")
        yield from self.by_headers() if self.headers else self.by_lines()

    def by_lines(self):
        while True:
            end = self.buffer.find(b"\n", self.scanned)
            if end < 0:
                self.scanned = len(self.buffer)
                if len(self.buffer) > LIMIT and not wrong("no-limit"):
                    if not self.skipping:
                        yield None
                    self.skipping = True
                    self.buffer.clear()
                    self.scanned = 0
                return
            frame = bytes(self.buffer[:end])
            del self.buffer[: end + 1]
            self.scanned = 0
            if self.skipping:
                self.skipping = False
            elif len(frame) > LIMIT and not wrong("no-limit"):
                yield None
            elif frame.strip():
                yield frame
                if wrong("frame-per-chunk"):
                    self.buffer.clear()

    def by_headers(self):
        while True:
            if self.skip:
                cut = min(self.skip, len(self.buffer))
                del self.buffer[:cut]
                self.skip -= cut
                if self.skip:
                    return
            if self.length is None:
                end = self.buffer.find(b"\r\n\r\n")
                if end < 0:
                    return
                lines = bytes(self.buffer[:end]).split(b"\r\n")
                del self.buffer[: end + 4]
                pairs = [line.partition(b":") for line in lines]
                lengths = [value.strip() for name, _, value in pairs if name.strip().lower() == b"content-length"]
                self.length = int(lengths[0]) if lengths and lengths[0].isdigit() else 0
                if self.length > LIMIT:
                    self.skip, self.length = self.length, None
                    yield None
                    continue
            if len(self.buffer) < self.length:
                return
            frame = bytes(self.buffer[: self.length])
            del self.buffer[: self.length]
            self.length = None
            yield frame


def deeper_than(frame, limit):
    depth, inside, escaped = 0, False, False
    if frame.count(b"[") + frame.count(b"{") <= limit:
        return False
    for byte in frame:
        if inside:
            if escaped:
                escaped = False
            elif byte == 0x5C:
                escaped = True
            elif byte == 0x22:
                inside = False
        elif byte == 0x22:
            inside = True
        elif byte in b"[{":
            depth += 1
            if depth > limit:
                return True
        elif byte in b"]}":
            depth -= 1
    return False


def no_constant(word):
    raise ValueError(word)


class Client:
    """One connection."""

    def __init__(self, server, read, write):
        self.server, self.read, self.write = server, read, write
        self.frames = Frames()
        self.sending = threading.Lock()
        self.running = {}
        self.guard = threading.Lock()
        self.greeted = not os.environ.get("EXTENSOR_TOKEN")
        self.met = False
        self.shut = False
        self.gone = False

    def talk(self):
        """Read until the end."""
        while True:
            data = self.read(65536)
            if not data:
                break
            for frame in self.frames.feed(data):
                self.take(frame)
        if self.frames.headers is False and self.frames.buffer.strip():
            self.take(bytes(self.frames.buffer))

    def send(self, value):
        data = json.dumps(value).encode()
        if len(data) > LIMIT and isinstance(value, dict) and not wrong("no-answer-limit"):
            number = -32603 if wrong("long-answer-is-internal") else -32011
            value = {"jsonrpc": "2.0", "id": value.get("id"), "error": {"code": number, "message": "too long"}}
            data = json.dumps(value).encode()
        whole = b"Content-Length: %d\r\n\r\n%s" % (len(data), data) if self.frames.headers else data + b"\n"
        with self.sending:
            try:
                if not self.gone:
                    self.write(whole)
            except OSError:
                self.gone = True

    def error(self, id_, number, message, data=None):
        error = {"code": number, "message": message, **({"data": data} if data else {})}
        return {"jsonrpc": "2.0", "id": id_, "error": error}

    def take(self, frame):
        """Serve one frame."""
        if frame is None:
            self.send(self.error(None, -32011, "the message is too long"))
            return
        try:
            if wrong("splits-lines") and len(frame.decode().splitlines()) > 1:
                raise ValueError("a line ended in the middle")
            if deeper_than(frame, DEEPEST):
                raise ValueError("too deep")
            message = json.loads(frame.decode(), parse_constant=no_constant)
        except (ValueError, RecursionError):
            if wrong("dies-of-broken-json"):
                os._exit(1)
            self.send(self.error(0 if wrong("zero-for-null") else None, -32700, "this is no JSON"))
            return
        if not isinstance(message, list):
            self.begin(message, self.send)
        elif not message:
            self.send(self.error(None, -32600, "an empty batch"))
        elif wrong("no-batch"):
            self.send(self.error(None, -32600, "no batches"))
        else:
            Batch(self, message)

    def begin(self, message, send):
        """Serve one message in a thread of its own."""
        id_ = message.get("id") if isinstance(message, dict) else None
        named = isinstance(id_, str | int | float) and not isinstance(id_, bool)
        whole = (
            isinstance(message, dict)
            and message.get("jsonrpc") == "2.0"
            and isinstance(message.get("method"), str)
            and ("id" not in message or named or id_ is None)
        )
        if not whole:
            number = -32603 if wrong("envelope-is-internal") else -32600
            send(self.error(id_ if named else None, number, "this is no request"))
            return
        if "id" not in message:
            self.notified(message)
            return
        request = Request(message, self)
        key = (type(id_).__name__, id_)
        with self.guard:
            if len(self.running) >= CONCURRENT:
                request = None
            else:
                self.running[key] = request
        if request is None:
            data = {"errors": [fault("Throttled", "too many at once")], "transient": True}
            send(self.error(id_, -32010, "too many at once", data))
            return
        if wrong("in-line"):
            self.work(request, key, send)
        else:
            threading.Thread(target=self.work, args=(request, key, send), daemon=True).start()

    def notified(self, message):
        params = message.get("params")
        if message["method"] == "$/cancelRequest" and isinstance(params, dict):
            id_ = params.get("id")
            with self.guard:
                request = self.running.get((type(id_).__name__, id_))
            if request is None and wrong("unknown-cancel-kills"):
                os._exit(3)
            if request is not None and not wrong("cancel-ignored"):
                request.cancelled.set()
                if wrong("cancel-answered-twice"):
                    self.send(self.error(id_, -32800, "cancelled", {"errors": [fault("Canceled", "cancelled")]}))
                if wrong("cancel-unanswered"):
                    request.message = {**request.message, "silent": True}

    def work(self, request, key, send):
        """Serve a request and answer it."""
        message = request.message
        id_ = message["id"]
        if wrong("ids-as-numbers") and isinstance(id_, str) and id_.isascii() and id_.isdigit():
            id_ = int(id_)
        try:
            if message["method"] == "provider/initialize":
                self.met = True
            elif not self.met:
                flawed_before_greeting()
            if not self.greeted and message["method"] != "provider/initialize" and not wrong("token-unneeded"):
                raise Refused(fault("Unauthorized", "present the token first"))
            if (self.server.shut or self.shut) and message["method"] not in ("provider/shutdown", "provider/ping"):
                raise Refused(fault("Unavailable", "the provider is going"), transient=True)
            result = serve(message["method"], message.get("params", {}), request)
            answer = {"jsonrpc": "2.0", "id": id_, "result": result}
        except Refused as refused:
            answer = self.error(id_, refused.number, refused.message, refused.data)
            if wrong("late-answer") and any(item["code"] == "DeadlineExceeded" for item in refused.data["errors"]):
                send(answer)
        except Exception as error:
            reference = uuid.uuid4().hex
            log(f"{reference}: {traceback.format_exc()}")
            text = "something unexpected happened"
            if wrong("traceback"):
                text = traceback.format_exc()
            if wrong("exception-text"):
                text = repr(error)
            data = {"errors": [fault("InternalError", text)], "transient": False, "correlationId": reference}
            answer = self.error(id_, -32010, text, data)
            if wrong("dies-of-exception"):
                os._exit(1)
        if not request.message.get("silent"):
            send(answer)
        with self.guard:
            if self.running.get(key) is request:
                del self.running[key]


def flawed_before_greeting():
    if wrong("greeting-needed"):
        raise Refused(fault("InvalidRequest", "say provider/initialize first"), number=-32002)
    if wrong("dies-before-greeting"):
        os._exit(1)


class Batch:
    """Gathers the answers of an array."""

    def __init__(self, client, messages):
        self.client, self.answers, self.guard = client, [], threading.Lock()
        self.missing = sum(1 for item in messages if not self.silent(item))
        for item in messages:
            client.begin(item, self.put)

    def silent(self, item):
        return isinstance(item, dict) and isinstance(item.get("method"), str) and "id" not in item

    def put(self, answer):
        with self.guard:
            self.answers.append(answer)
            over = len(self.answers) == self.missing
        if over:
            self.client.send(self.answers)


class Server:
    """The process: its clients and its end."""

    def __init__(self):
        self.shut = False
        self.clients = []
        self.ended = threading.Lock()

    def finish(self, but, seconds):
        """Let running requests end, then cancel them."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            running = [item for one in self.clients for item in list(one.running.values()) if item is not but]
            if not running:
                return
            threading.Event().wait(0.005)
        for one in self.clients:
            for request in list(one.running.values()):
                request.cancelled.set()
        threading.Event().wait(0.1)

    def exit(self, code=0):
        """End the process once."""
        if self.ended.acquire(blocking=False):
            self.shut = True
            self.finish(None, 3)
            if wrong("socket-left"):
                os._exit(code)
            for place in SOCKETS:
                Path(place).unlink(missing_ok=True)
            os._exit(code)


SOCKETS = []


def write_all(fd):
    def write(data):
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]

    return write


def listen(server, address):
    scheme, _, rest = address.partition(":")
    if scheme == "unix":
        place = Path(rest)
        listener = socket.socket(socket.AF_UNIX)
        if place.exists() and not wrong("stale-socket-refused"):
            probe = socket.socket(socket.AF_UNIX)
            try:
                probe.connect(rest)
            except OSError:
                place.unlink()
            else:
                if wrong("takes-address-over"):
                    place.unlink()
                else:
                    sys.exit(f"{rest} is served already")
            finally:
                probe.close()
        listener.bind(rest)
        place.chmod(0o600)
        SOCKETS.append(rest)
    else:
        host, _, port = rest.rpartition(":")
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, int(port)))
    listener.listen(64)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=attend, args=(server, connection), daemon=True).start()


def attend(server, connection):
    client = Client(server, connection.recv, connection.sendall)
    if wrong("answers-to-last-client"):
        server.last = connection
        client.write = lambda data: server.last.sendall(data)
    server.clients.append(client)
    with contextlib.suppress(OSError):
        client.talk()
    if wrong("client-end-ends-all"):
        server.exit()
    client.gone = True
    for request in list(client.running.values()):
        request.cancelled.set()
    server.clients.remove(client)
    connection.close()
    if server.shut and not server.clients:
        server.exit()


def main():
    if wrong("slow-start"):
        threading.Event().wait(3)
    server = Server()

    def end(*_):
        threading.Thread(target=server.exit).start()

    if wrong("term-ignored"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif not wrong("term-kills"):
        signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    if wrong("leaves-child"):
        subprocess.Popen(["/bin/sleep", "60"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    address = option("--listen") or (f"unix:{option('--socket')}" if option("--socket") else None)
    if address:
        threading.Thread(target=listen_or_die, args=(server, address), daemon=True).start()
        while True:
            signal.pause()
    output = os.dup(1)
    os.dup2(2, 1)
    client = Client(server, lambda size: os.read(0, size), write_all(output))
    server.clients.append(client)
    reader = threading.Thread(target=client.talk, daemon=True)
    reader.start()
    while reader.is_alive():
        reader.join(0.5)
    if wrong("end-ignored"):
        while True:
            signal.pause()
    server.exit(3 if wrong("exits-with-3") else 0)


def listen_or_die(server, address):
    try:
        listen(server, address)
    except (OSError, SystemExit) as error:
        log(str(error))
        os._exit(1)


if __name__ == "__main__":
    main()
