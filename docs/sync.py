"""Bring the generated parts of the documents up to date, or with ``--check`` say which are not.

Generated are `docs/schemas/*.json` and every block between ``<!-- from PATH -->`` and ``<!-- end -->`` in a
Markdown file.
"""

import json
import re
import sys
from pathlib import Path

from extensor.contract.models import protocol_schema

PROJECT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- from (?P<path>\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
LANGUAGES = {".py": "python", ".bicep": "bicep", ".json": "json", ".toml": "toml", ".sh": "sh"}


def generated() -> dict[Path, str]:
    """Every generated file with the text it should have."""
    schema = json.dumps(protocol_schema(), indent=2, sort_keys=True)
    texts = {PROJECT / "docs/schemas/protocol.json": f"{schema}\n"}
    for page in [
        PROJECT / "README.md",
        *sorted((PROJECT / "docs").rglob("*.md")),
        *sorted((PROJECT / "examples").rglob("*.md")),
    ]:
        text = page.read_text(encoding="utf-8")
        if BLOCK.search(text):
            texts[page] = BLOCK.sub(_block, text)
    return texts


def _block(match: re.Match[str]) -> str:
    source = PROJECT / match["path"]
    code = source.read_text(encoding="utf-8").rstrip("\n")
    return f"{match[1]}```{LANGUAGES[source.suffix]}\n{code}\n```\n{match[3]}"


def stale() -> list[Path]:
    """The generated files whose text is not what it should be."""
    return [
        path for path, text in generated().items() if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]


if __name__ == "__main__":
    behind = stale()
    if "--check" in sys.argv[1:]:
        sys.exit("".join(f"{path.relative_to(PROJECT)} is behind; run: make docs\n" for path in behind) or 0)
    for path, text in generated().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
