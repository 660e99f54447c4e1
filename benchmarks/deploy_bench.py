"""`extensor deploy` of many independent resources on a provider that does nothing: deploy_bench.py [ROUNDS]

- `growth`: time per resource at 800 resources divided by that at 100. Goal: at most 1.3. The start makes this easy, so
  there is also `growth of the slope`: what a resource more costs between 400 and 800, divided by that between 100 and
  400; it swings more.
- `share`: `extensor deploy` of 800 resources divided by `bicep local-deploy` of the same 800 on a do-nothing gRPC
  extension, in the same run. Goal: at most 0.1. Needs the Bicep CLI in $EXTENSOR_SHARED/tools/bicep, or the same below
  ../shared.

Whole processes are timed, variants in turn, medians over rounds.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
FEW, SOME, MANY = 100, 400, 800
GROWTH_GOAL, SHARE_GOAL = 1.3, 0.1
PATIENCE = 240.0
"""Seconds after which the peer is stopped; the share is then smaller than what is printed."""

PROVIDER = """
from extensor import Context, Identifier, Properties, Provider, ResourceHandler

provider = Provider("nothing", "1.0.0")


class Note(Properties):
    name: Identifier[str]
    text: str = ""


@provider.resource("note@1.0")
class NoteHandler(ResourceHandler[Note]):
    async def save(self, ctx: Context, desired: Note) -> Note:
        return desired

    async def get(self, ctx: Context, wanted: Note) -> Note | None:
        return wanted

    async def delete(self, ctx: Context, wanted: Note) -> None:
        return None


if __name__ == "__main__":
    provider.run()
"""

BICEP = """
targetScope = 'local'
extension nothing
"""


def bicep_cli() -> Path | None:
    """The real compiler, where it is at hand."""
    shared = Path(os.environ.get("EXTENSOR_SHARED") or HERE.parent.parent / "shared")
    cli = shared / "tools" / "bicep" / "bicep"
    return cli if cli.is_file() else None


def body(index: int) -> dict[str, str]:
    return {"name": f"note-{index}", "text": f"[format('text {{0}}', {index})]"}


def write_template(folder: Path, count: int) -> Path:
    """The template as JSON, for extensor."""
    resources = {f"r{index}": {"import": "n", "type": "note@1.0", "properties": body(index)} for index in range(count)}
    file = folder / f"notes{count}.json"
    file.write_text(
        json.dumps(
            {
                "languageVersion": "2.1-experimental",
                "contentVersion": "1.0.0.0",
                "imports": {"n": {"provider": "nothing", "version": "1.0.0"}},
                "resources": resources,
            }
        )
    )
    return file


def write_bicep(folder: Path, cli: Path, environment: dict[str, str]) -> None:
    """An extension package, and the same resources in Bicep."""
    types = folder / "types"
    types.mkdir()
    text = {"$type": "StringType"}
    note = {
        "$type": "ObjectType",
        "name": "note",
        "properties": {"name": {"type": {"$ref": "#/0"}, "flags": 17}, "text": {"type": {"$ref": "#/0"}, "flags": 0}},
    }
    resource = {
        "$type": "ResourceType",
        "name": "note@1.0",
        "body": {"$ref": "#/1"},
        "readableScopes": 31,
        "writableScopes": 31,
    }
    (types / "types.json").write_text(json.dumps([text, note, resource]))
    settings = {"name": "nothing", "version": "1.0.0", "isSingleton": True}
    index = {"resources": {"note@1.0": {"$ref": "types.json#/2"}}, "resourceFunctions": {}, "settings": settings}
    (types / "index.json").write_text(json.dumps(index))
    binary = folder / "nothing"
    source = (HERE / "local_deploy_extension.py").read_text()
    binary.write_text(f"#!{sys.executable}\n{source}")
    binary.chmod(0o755)
    command = [str(cli), "publish-extension", str(types / "index.json"), "--bin-linux-x64", str(binary)]
    run([*command, "--target", str(folder / "nothing.tgz"), "--force"], folder, environment)
    (folder / "bicepconfig.json").write_text(
        json.dumps(
            {
                "experimentalFeaturesEnabled": {"localDeploy": True},
                "extensions": {"nothing": "./nothing.tgz"},
                "implicitExtensions": [],
            }
        )
    )
    for count in (FEW, MANY):
        resources = "".join(
            f"resource r{index} 'note@1.0' = {{ name: 'note-{index}', text: 'text ${{{index}}}' }}\n"
            for index in range(count)
        )
        (folder / f"notes{count}.bicep").write_text(BICEP + resources)
        (folder / f"notes{count}.bicepparam").write_text(f"using 'notes{count}.bicep'\n")


def run(command: list[str], folder: Path, environment: dict[str, str]) -> float:
    """Seconds that a command takes, at most `PATIENCE`. Ends the benchmark when it fails."""
    started = time.perf_counter()
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return PATIENCE
    seconds = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return seconds


def measure(rounds: int) -> dict[str, float]:
    """Medians in seconds by variant, program and number of resources: ``extensor 800``, ``bicep 100``…"""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {
            **os.environ,
            "HOME": name,
            "DOTNET_BUNDLE_EXTRACT_BASE_DIR": str(folder / "dotnet"),
            "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1",
        }
        (folder / "nothing.py").write_text(PROVIDER)
        commands: dict[str, list[str]] = {}
        for count in (FEW, SOME, MANY):
            template = write_template(folder, count)
            commands[f"extensor {count}"] = [
                *(sys.executable, "-m", "extensor.cli", "deploy", str(template)),
                *("--provider", f"nothing={sys.executable} {folder / 'nothing.py'}", "--output", "json"),
            ]
        cli = bicep_cli()
        if cli is not None:
            write_bicep(folder, cli, environment)
            for count in (FEW, MANY):
                commands[f"bicep {count}"] = [str(cli), "local-deploy", f"notes{count}.bicepparam"]
        taken: dict[str, list[float]] = {name: [] for name in commands}
        for turn in range(rounds):
            for variant in sorted(commands, reverse=bool(turn % 2)):
                if variant.startswith("bicep") and turn:
                    continue  # a minute each; once is enough to see a factor of ten
                taken[variant].append(run(commands[variant], folder, environment))
        return {variant: statistics.median(times) for variant, times in taken.items()}


def ratios(medians: dict[str, float]) -> dict[str, tuple[float, float | None]]:
    """Each ratio with its goal, if it has one; a ratio is at most its goal when the goal is met."""
    few, some, many = (medians[f"extensor {count}"] for count in (FEW, SOME, MANY))
    found: dict[str, tuple[float, float | None]] = {"growth": ((many / MANY) / (few / FEW), GROWTH_GOAL)}
    found["growth of the slope"] = ((many - some) / (MANY - SOME)) / ((some - few) / (SOME - FEW)), None
    if f"bicep {MANY}" in medians:
        found["share"] = (medians[f"extensor {MANY}"] / medians[f"bicep {MANY}"], SHARE_GOAL)
    return found


def main() -> None:
    """Print what was measured."""
    medians = measure(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    if medians.get(f"bicep {MANY}") == PATIENCE:
        print(f"bicep local-deploy was stopped after {PATIENCE:g} s")
    for variant, seconds in sorted(medians.items()):
        count = int(variant.split()[1])
        print(f"{variant:20} {seconds:8.2f} s {seconds / count * 1000:10.2f} ms a resource")
    for name, (ratio, goal) in ratios(medians).items():
        print(f"{name:20} {ratio:8.3f}" + ("" if goal is None else f"   goal <= {goal:g}"))
    if "bicep 800" not in medians:
        print("share: not measured, there is no Bicep CLI at hand")


if __name__ == "__main__":
    main()
