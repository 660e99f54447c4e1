"""The examples' templates, deployed by the command as a newcomer would."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

IGNORED = shutil.ignore_patterns(".extensor", "public", "__pycache__", "*.egg-info")


def copy_of(project: Path, name: str, place: Path) -> Path:
    return Path(shutil.copytree(project / "examples" / name, place / name, ignore=IGNORED))


def extensor(folder: Path, *words: str, code: int = 0) -> Any:
    """What a command says in JSON; the test fails unless it ends with `code`."""
    command = [sys.executable, "-m", "extensor", *words, "--output", "json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_the_demo_goes_as_it_should_and_leaves_the_example_as_it_was(project: Path) -> None:
    site = project / "examples/site"
    before = {path: path.stat().st_mtime_ns for path in site.rglob("*")}
    done = subprocess.run([sys.executable, str(site / "demo.py")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for command in ("what-if main.json", "deploy main.json -p theme=storm", "destroy main.json"):
        assert f"$ extensor {command}" in done.stdout
    assert {path: path.stat().st_mtime_ns for path in site.rglob("*")} == before


def test_the_site_with_every_option_has_every_page_and_true_seals(project: Path, tmp_path: Path) -> None:
    folder = copy_of(project, "site", tmp_path)
    answer = extensor(
        folder, "deploy", "main.json", "-p", "drafts=true", "-p", "domain=bay.example", "-p", "folder=www/bay"
    )
    assert answer["status"] == "Succeeded"
    public = folder / "www/bay"
    assert (public / "CNAME").read_text() == "bay.example\n"
    assert (public / "draft.html").is_file()
    assert (public / "img/favicon.png").read_bytes() == (folder / "assets/favicon.png").read_bytes()
    seals = sorted(public.glob("notes/*.sha256"))
    assert len(seals) == 5
    for seal in seals:
        digest, name = seal.read_text().split()
        assert hashlib.sha256((seal.parent / name).read_bytes()).hexdigest() == digest
    for page in public.rglob("*.html"):
        assert "@/" not in page.read_text()
        assert "{" not in page.read_text()
    manifest = json.loads((public / "manifest.json").read_text())
    for look in manifest["looks"]:
        content = (folder / look["path"]).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (look["size"], look["sha256"])


def test_a_page_edited_by_hand_makes_what_if_end_with_2(project: Path, tmp_path: Path) -> None:
    folder = copy_of(project, "site", tmp_path)
    extensor(folder, "deploy", "main.json")
    assert extensor(folder, "what-if", "main.json", "--exit-code")["changes"] == []
    (folder / "public/visit.html").write_text("gone fishing")
    (folder / "public/boats").chmod(0o700)  # the template gives no modes, so they are not its to manage
    changes = extensor(folder, "what-if", "main.json", "--exit-code", code=2)["changes"]
    assert [(change["symbolicName"], change["changeType"]) for change in changes] == [("pages[1]", "Modify")]
    assert {one["path"] for one in changes[0]["delta"]} == {
        "$.properties.content",
        "$.properties.sha256",
        "$.properties.size",
    }


def test_the_quickstarts_template_writes_its_notes(project: Path, tmp_path: Path) -> None:
    folder = copy_of(project, "quickstart", tmp_path)
    provider = ("--provider", f"quickstart={sys.executable} -m quickstart")
    answer = extensor(folder, "deploy", "main.json", "-p", "who=harbour", *provider)
    assert (folder / "echo.txt").read_text() == "Somebody said: Hello, harbour!"
    assert answer["outputs"]["said"]["value"] == "Somebody said: Hello, harbour!"
    extensor(folder, "destroy", "main.json", *provider)
    assert list(folder.glob("*.txt")) == []
