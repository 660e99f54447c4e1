"""Says why on stderr and exits with 7 before it reads anything."""

import sys

print("cannot read the licence file", file=sys.stderr)
sys.exit(7)
