"""``python -m extensor_conformance.cli`` is the same command."""

import sys

from extensor_conformance.cli import main

sys.exit(main())
