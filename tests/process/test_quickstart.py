"""The dozen-line provider, run as a newcomer runs it: each command of its README."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from extensor.testing import connect


@pytest.fixture
def quickstart(project: Path) -> Path:
    return project / "examples" / "quickstart"


def run(command: str, quickstart: Path, folder: Path) -> str:
    """Run a shell command as in the README, ``python`` being the interpreter that runs the tests."""
    python = folder / "bin" / "python"
    if not python.exists():
        python.parent.mkdir()
        python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
        python.chmod(0o755)
    env = {**os.environ, "PYTHONPATH": str(quickstart), "PATH": f"{python.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_command_of_the_readme_prints_what_the_readme_shows(quickstart: Path, tmp_path: Path):
    blocks = re.findall(r"```console\n(.*?)```", (quickstart / "README.md").read_text("utf-8"), re.DOTALL)
    shown = [part.partition("\n") for block in blocks for part in block.split("$ ")[1:]]
    ran = 0
    for command, _, output in shown:
        if command.startswith("pip "):
            continue
        assert run(command, quickstart, tmp_path).strip() == output.strip()
        ran += 1
    assert ran == 2
    assert not list(tmp_path.glob("*.txt")), "a preview wrote something"


def test_a_note_is_kept_across_processes_and_gone_when_deleted(quickstart: Path, tmp_path: Path):
    def call(verb: str, properties: dict[str, str]) -> dict[str, object]:
        params = {
            "type": "note@1.0",
            "import": {"provider": "quickstart", "version": "0.1", "config": {}},
            "properties": properties,
        }
        request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": f"resource/{verb}", "params": params})
        output = run(f"printf '%s\\n' {shlex.quote(request)} | python -m quickstart", quickstart, tmp_path)
        assert output.count("\n") == 1
        return json.loads(output)

    text = "naïve 日本\r\n"
    assert call("save", {"name": "a", "text": text})["result"]["properties"] == {"name": "a", "text": text}
    assert (tmp_path / "a.txt").read_bytes() == text.encode()
    assert call("get", {"name": "a"})["result"]["properties"]["text"] == text
    assert call("delete", {"name": "a"})["result"]["properties"] is None
    assert call("delete", {"name": "a"})["result"]["properties"] is None
    assert call("get", {"name": "a"})["error"]["data"]["errors"][0]["code"] == "ResourceNotFound"
    assert call("save", {"name": "../a", "text": ""})["error"]["data"]["errors"][0]["path"] == "$.properties.name"


def test_the_provider_is_about_a_dozen_lines(quickstart: Path):
    lines = [
        line for line in (quickstart / "quickstart" / "provider.py").read_text("utf-8").splitlines() if line.strip()
    ]
    assert len(lines) <= 20


@pytest.mark.anyio
async def test_the_quickstart_can_be_tested_in_memory(
    quickstart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(quickstart))
    from importlib import import_module

    async with connect(import_module("quickstart.provider").provider) as host:
        await host.save("note@1.0", {"name": "a", "text": "hi"})
        preview = await host.preview_save("note@1.0", {"name": "a", "text": "ho"})
        assert preview.properties == {"name": "a", "text": "ho"}
        assert (await host.get("note@1.0", {"name": "a"})).properties == {"name": "a", "text": "hi"}
