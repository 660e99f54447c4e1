"""Play a deployment's life on a copy of the site: preview, deploy, repeat, change, edit by hand, destroy.

    python examples/site/demo.py

Each command is printed before what it says. The program ends with 1 at the first thing that is not as it should be.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SITE = Path(__file__).resolve().parent
RESOURCES, FILES = 34, 29


class Demo:
    """A folder to play in, and the commands that are run there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def say(self, text: str) -> None:
        """A heading."""
        sys.stdout.write(f"\n\033[1m# {text}\033[0m\n" if sys.stdout.isatty() else f"\n# {text}\n")

    def extensor(self, *words: str, code: int = 0) -> str:
        """Runs a command for people to see."""
        sys.stdout.write(f"$ extensor {' '.join(words)}\n")
        sys.stdout.flush()
        done = self._run(words)
        sys.stdout.write(done.stdout + done.stderr)
        sys.stdout.flush()
        expect(done.returncode == code, f"exit code {code}, not {done.returncode}")
        return done.stdout

    def changes(self, *words: str) -> dict[str, str]:
        """What a what-if would change, by symbolic name; asked for as JSON and not shown."""
        done = self._run(("what-if", "main.json", "--output", "json", *words))
        expect(done.returncode == 0, f"a preview, not: {done.stdout}{done.stderr}")
        return {change["symbolicName"]: change["changeType"] for change in json.loads(done.stdout)["changes"]}

    def files(self) -> int:
        """How many files the site has."""
        return sum(path.is_file() for path in (self.folder / "public").rglob("*"))

    def _run(self, words: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "extensor", *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)


def expect(condition: bool, what: str) -> None:
    """Ends the program unless the condition holds."""
    if not condition:
        sys.exit(f"demo: expected {what}")


def play(demo: Demo) -> None:
    public = demo.folder / "public"

    demo.say("What would be made? Nothing is written yet.")
    demo.extensor("what-if", "main.json")
    first = demo.changes()
    expect(
        len(first) == RESOURCES and set(first.values()) == {"Create"}, f"{RESOURCES} resources to create, not {first}"
    )
    expect(not public.exists(), "no folder after a preview")

    demo.say("Make it.")
    demo.extensor("deploy", "main.json")
    expect(demo.files() == FILES, f"{FILES} files, not {demo.files()}")
    keeper = (demo.folder / "keeper.txt").read_text()
    expect(keeper.strip() in (public / "log.html").read_text(), "the keeper's words on the log page")

    demo.say("Once more: there is nothing to do.")
    demo.extensor("what-if", "main.json", "--exit-code")
    expect(demo.changes() == {}, "no change")

    demo.say("Another theme: only what it touches shows.")
    demo.extensor("what-if", "main.json", "-p", "theme=storm", "--exit-code", code=2)
    storm = demo.changes("-p", "theme=storm")
    expect(storm == {"themeSheet": "Modify", "manifest": "Modify"}, f"the style sheet and the manifest, not {storm}")
    demo.extensor("deploy", "main.json", "-p", "theme=storm")
    expect(demo.changes("-p", "theme=storm") == {}, "no change")

    demo.say("Someone edits a page by hand: it shows, and a deployment puts it right.")
    page = public / "kitchen.html"
    written = page.read_text()
    page.write_text(written.replace("Soup", "Stew"))
    demo.extensor("what-if", "main.json", "-p", "theme=storm", "--exit-code", code=2)
    demo.extensor("deploy", "main.json", "-p", "theme=storm")
    expect(page.read_text() == written, "the page as it was")

    demo.say("Take it down. What was not made here stays.")
    demo.extensor("destroy", "main.json")
    expect(not public.exists(), "no site any more")
    expect((demo.folder / "keeper.txt").read_text() == keeper, "the keeper's log untouched")
    sys.stdout.write("\nEverything went as it should.\n")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="lantern-bay-") as scratch:
        folder = Path(scratch) / "site"
        shutil.copytree(SITE, folder, ignore=shutil.ignore_patterns(".extensor", "public"))
        os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
        play(Demo(folder))


if __name__ == "__main__":
    main()
