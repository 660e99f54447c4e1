"""URIs (RFC 3986): joining, escaping, taking apart."""

import re

from extensor.contract.json import Json
from extensor.template.functions.table import Function, an_object, integer, text
from extensor.template.refusal import Refusal

_ABSOLUTE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]+)")
_PART = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#.*)?\Z",
    re.DOTALL,
)
_AUTHORITY = re.compile(r"(?:[^@]*@)?(\[[^\]]*\]|[^:]*)(?::([0-9]{1,5}))?\Z")
_PORTS = {"http": 80, "https": 443, "ftp": 21}


def _uri(base: Json, relative: Json) -> Json:
    from urllib.parse import urljoin, uses_netloc, uses_relative

    start, rest = text(base, "the base"), text(relative, "the relative part")
    match = _ABSOLUTE.match(start)
    if match is None:
        raise Refusal("the base must be an absolute URI such as https://example.com/")
    scheme = match.group(1).lower()
    if start[match.end() :] == "":
        start += "/"
    if scheme in uses_relative and scheme in uses_netloc:
        joined = urljoin(start, rest)
    else:
        joined = scheme + urljoin(f"http{start[len(scheme) :]}", rest)[len("http") :]
    host = _ABSOLUTE.match(joined)
    return f"{joined}/" if host is not None and host.end() == len(joined) else joined


def _component(value: Json) -> Json:
    from urllib.parse import quote

    return quote(text(value), safe="-_.~", errors="replace")


def _component_to_string(value: Json) -> Json:
    from urllib.parse import unquote

    return unquote(text(value), errors="replace")


def _parse_uri(value: Json) -> Json:
    match = _PART.match(text(value))
    if match is None:
        raise Refusal("the argument must be an absolute URI such as https://example.com/")
    scheme = match["scheme"].lower()
    authority = _AUTHORITY.match(match["authority"])
    if authority is None:
        raise Refusal("the URI's host and port cannot be read")
    found: dict[str, Json] = {
        "scheme": scheme,
        "host": authority.group(1).lower(),
        "port": int(authority.group(2)) if authority.group(2) else _PORTS.get(scheme, -1),
        "path": match["path"] or "/",
    }
    found["query"] = f"?{match['query']}" if match["query"] else ""
    return found


def _build_uri(value: Json) -> Json:
    parts = an_object(value)
    scheme, host = text(parts.get("scheme"), "'scheme'"), text(parts.get("host"), "'host'")
    if not scheme or not host:
        raise Refusal("'scheme' and 'host' must not be empty")
    port = parts.get("port")
    written = "" if port is None or integer(port, "'port'") in {-1, _PORTS.get(scheme.lower(), -1)} else f":{port}"
    path = text(parts.get("path") or "/", "'path'")
    query = text(parts.get("query") or "", "'query'")
    return f"{scheme.lower()}://{host}{written}{'' if path.startswith('/') else '/'}{path}{_query(query)}"


def _query(query: str) -> str:
    return query if not query or query.startswith("?") else f"?{query}"


FUNCTIONS = (
    Function("uri", 2, 2, _uri),
    Function("uriComponent", 1, 1, _component),
    Function("uriComponentToString", 1, 1, _component_to_string),
    Function("parseUri", 1, 1, _parse_uri),
    Function("buildUri", 1, 1, _build_uri),
)
