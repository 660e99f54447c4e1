"""`python -m extensor.cli` is the `extensor` command."""

import sys

from extensor.cli import main

if __name__ == "__main__":
    sys.exit(main())
