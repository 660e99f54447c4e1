"""Which stack and which state folder a command without a template means."""

import argparse
from pathlib import Path

from extensor.cli.inputs import refuse_bicep
from extensor.cli.options import DEFAULT_STATE, stack_name, state_dir
from extensor.cli.trouble import trouble
from extensor.engine.state import stacks


def recorded_stack(args: argparse.Namespace) -> tuple[str, Path]:
    """The stack's name and its state folder. Raises `Trouble`, which lists the stacks there are, for any other."""
    template: Path | None = args.template
    if template is not None:
        refuse_bicep(template)
    folder: Path = args.state or (state_dir(template) if template is not None else Path(DEFAULT_STATE))
    if folder.exists() and not folder.is_dir():
        raise trouble(f"{folder} is a file, not a state folder", code="UnknownStack")
    known = stacks(folder)
    if not known:
        raise trouble(
            f"{folder} holds no record of any deployment; say where it is with --state DIR, or name the TEMPLATE",
            code="UnknownStack",
        )
    name: str | None = args.stack or (stack_name(template) if template is not None else None)
    if name is None and len(known) == 1:
        return known[0], folder
    if name is None:
        raise trouble(
            f"{folder} holds {len(known)} stacks; choose one with --stack: {', '.join(known)}", code="UnknownStack"
        )
    if name not in known:
        raise trouble(f"{folder} holds no stack {name}; it holds {', '.join(known)}", code="UnknownStack")
    return name, folder
