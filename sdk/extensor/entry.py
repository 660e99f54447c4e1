"""Where a provider's process begins: it serves, or does what its command line says."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from extensor.authoring.provider import Provider
    from extensor.authoring.stdio import Wire


def run(target: "str | Provider", argv: Sequence[str] | None = None) -> None:
    """Serve a provider on stdin and stdout until the host closes them, or do what `argv` says (try ``--help``).

    `target` is a `Provider`, or better ``"module:attribute"``: then the pipe is protected before the module is
    imported, so that even a print at its top cannot reach the host. `argv` is by default the process's own. From here
    on the process's stdout is its stderr. Returns when the host is done; raises `SystemExit` for a command that
    failed.
    """
    from extensor.authoring.garbage import paused
    from extensor.authoring.stdio import claim_stdio

    words = list(sys.argv[1:] if argv is None else argv)
    wire = claim_stdio()
    with paused():
        provider = _loaded(target) if isinstance(target, str) else target
        serve = _server() if not words else None
    if serve is not None:
        serve(provider, wire)
        return
    from extensor.cli.provider_command import main

    code = main(provider, words, wire)
    if code:
        raise SystemExit(code)


def _loaded(target: str) -> "Provider":
    from extensor.authoring.load import load

    return load(target)


def _server() -> "Callable[[Provider, Wire], None]":
    from extensor.authoring.serve import serve_stdio

    return serve_stdio
