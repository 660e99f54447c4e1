"""Compile the Bicep templates of the examples with the real compiler, against the types that our providers publish.

    python examples/compile.py            writes main.json beside each main.bicep
    python examples/compile.py --check    writes nothing; ends with 1 when a main.json is out of step

The compiler is looked for in the environment variable BICEP, beside a development checkout, and on the search path.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent
TEMPLATES = {
    "site": ("files", "extensor_providers.files.provider:provider"),
    "quickstart": ("quickstart", "quickstart.provider:provider"),
}


def find_compiler() -> Path | None:
    """The Bicep command, or ``None``."""
    places = (os.environ.get("BICEP"), EXAMPLES.parent.parent / "shared/tools/bicep/bicep", shutil.which("bicep"))
    return next((Path(place) for place in places if place and Path(place).is_file()), None)


def compile_example(name: str, compiler: Path, scratch: Path) -> str:
    """The template JSON of an example, exactly as the compiler prints it; `scratch` is an empty folder to work in."""
    alias, provider = TEMPLATES[name]
    shutil.copytree(
        EXAMPLES / name, scratch / name, ignore=shutil.ignore_patterns(".extensor", "public", "__pycache__")
    )
    types = scratch / "types"
    command = [sys.executable, "-m", "extensor.authoring", provider, "types", "--out", str(types)]
    run(command, cwd=scratch / name)
    environment = {**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    extension = scratch / f"{alias}.tgz"
    run(
        [str(compiler), "publish-extension", str(types / "index.json"), "--target", str(extension), "--force"],
        env=environment,
    )
    (scratch / name / "bicepconfig.json").write_text(
        json.dumps(
            {
                "extensions": {alias: f"../{extension.name}"},
                "implicitExtensions": [],
                "cacheRootDirectory": str(scratch / "cache"),
            }
        )
    )
    return run([str(compiler), "build", str(scratch / name / "main.bicep"), "--stdout"], env=environment)


def run(command: list[str], *, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """What a command prints; ends the program with its complaint when it fails."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed with code {done.returncode}:\n{done.stderr or done.stdout}")
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, say what is out of step")
    parser.add_argument("names", nargs="*", help=f"the examples, by default {' '.join(TEMPLATES)}")
    arguments = parser.parse_args()
    compiler = find_compiler()
    if compiler is None:
        sys.exit("there is no Bicep compiler here; install it and name it in the environment variable BICEP")
    stale = 0
    for name in arguments.names or TEMPLATES:
        target = EXAMPLES / name / "main.json"
        with tempfile.TemporaryDirectory(prefix="extensor-compile-") as scratch:
            compiled = compile_example(name, compiler, Path(scratch))
        if target.is_file() and target.read_text() == compiled:
            continue
        stale += 1
        sys.stdout.write(
            f"{target.relative_to(EXAMPLES.parent)} {'is out of step' if arguments.check else 'written'}\n"
        )
        if not arguments.check:
            target.write_text(compiled)
    return 1 if arguments.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
