"""Play a deployment's life on a copy of the site: preview, deploy, repeat, change, edit by hand, destroy.

    python examples/site/demo.py

Each command is printed before what it says. The program ends with 1 at the first thing that is not as it should be.
"""

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
        """Runs a command, shows it and what it says, and returns that."""
        sys.stdout.write(f"$ extensor {' '.join(words)}\n")
        command = [sys.executable, "-m", "extensor", *words]
        done = subprocess.run(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        sys.stdout.write(done.stdout)
        sys.stdout.flush()
        expect(done.returncode == code, f"exit code {code}, not {done.returncode}")
        return done.stdout

    def files(self) -> int:
        """How many files the site has."""
        return sum(path.is_file() for path in (self.folder / "public").rglob("*"))


def expect(condition: bool, what: str) -> None:
    """Ends the program unless the condition holds."""
    if not condition:
        sys.exit(f"demo: expected {what}")


def play(demo: Demo) -> None:
    public = demo.folder / "public"

    demo.say("What would be made? Nothing is written yet.")
    preview = demo.extensor("what-if", "main.json")
    expect(f"{RESOURCES} to create" in preview, f"{RESOURCES} resources to create")
    expect(not public.exists(), "no folder after a preview")

    demo.say("Make it.")
    demo.extensor("deploy", "main.json")
    expect(demo.files() == FILES, f"{FILES} files, not {demo.files()}")
    keeper = (demo.folder / "keeper.txt").read_text()
    expect(keeper.strip() in (public / "log.html").read_text(), "the keeper's words on the log page")

    demo.say("Once more: there is nothing to do.")
    demo.extensor("what-if", "main.json", "--exit-code")

    demo.say("Another theme: only what it touches shows.")
    preview = demo.extensor("what-if", "main.json", "-p", "theme=storm", "--exit-code", code=2)
    expect("2 to modify" in preview, "two changes")
    expect("~ themeSheet" in preview and "~ manifest" in preview, "the style sheet and the manifest to change")
    demo.extensor("deploy", "main.json", "-p", "theme=storm")
    expect("#0b6e6e" in (public / "css/theme.css").read_text(), "the storm's colours")

    demo.say("Someone edits a page by hand: it shows, and a deployment puts it right.")
    page = public / "kitchen.html"
    written = page.read_text()
    page.write_text(written.replace("Soup", "Stew"))
    preview = demo.extensor("what-if", "main.json", "-p", "theme=storm", "--exit-code", code=2)
    expect("1 to modify" in preview and "~ pages[2]" in preview, "the edited page and no other")
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
