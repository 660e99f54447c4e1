"""`python -m extensor` is the `extensor` command."""

from extensor.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
