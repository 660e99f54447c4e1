"""Says why on stderr and exits with 7 before it reads anything."""

import sys

sys.stderr.write("cannot read the licence file\n")
sys.exit(7)
