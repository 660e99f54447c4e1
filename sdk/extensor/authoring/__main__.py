"""``python -m extensor.authoring module:attribute [arguments]``: serve the provider that an installed package names."""

import sys
from importlib import import_module

if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
    raise SystemExit("usage: python -m extensor.authoring MODULE:ATTRIBUTE [ARGUMENTS]; try MODULE:ATTRIBUTE --help")

# `extensor.entry` knows the command line as well as this room, so it is above it.
import_module("extensor.entry").run(sys.argv[1], sys.argv[2:])
