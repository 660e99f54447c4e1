"""Which variables a provider's process sees: a list of names, and what its launch adds. Nothing else of the host's.

A provider finds programs, its home, the locale, the time zone, temporary space, the certificates and the proxy. It does
not find the credentials that happen to lie in the host's environment; whoever wants to hand one over says so in
`LaunchSpec.env`. Of Python's own variables those pass that say where code and its cache lie, because an installed
provider is found with them; those that change behaviour (`PYTHONWARNINGS`, `PYTHONSTARTUP`, `PYTHONIOENCODING`…) do
not.
"""

import os
from collections.abc import Mapping

ALLOWED = frozenset(
    {
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TZDIR",
        "TMPDIR",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_RUNTIME_DIR",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "REQUESTS_CA_BUNDLE",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "no_proxy",
        "all_proxy",
        "VIRTUAL_ENV",
        "PYTHONHOME",
        "PYTHONPATH",
        "PYTHONPYCACHEPREFIX",
        "PYTHONDONTWRITEBYTECODE",
        "EXTENSOR_RPC_ENGINE",
    }
)
"""Names that pass, spelled exactly."""

ALLOWED_PREFIXES = ("LC_",)
"""Beginnings of names that pass."""


def environment(added: Mapping[str, str] | None = None, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a provider's process: what is allowed of `base` (this process's own), then `added`."""
    base = os.environ if base is None else base
    kept = {name: value for name, value in base.items() if name in ALLOWED or name.startswith(ALLOWED_PREFIXES)}
    return {**kept, **(added or {})}
