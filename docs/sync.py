"""Bring the generated parts of the documents up to date, or with ``--check`` say which are not.

Generated are `docs/schemas/*.json`, `docs/conformance-checks.md` and every block between ``<!-- from PATH -->`` and
``<!-- end -->`` in a Markdown file.
"""

import json
import re
import sys
from pathlib import Path

from extensor.contract.models import protocol_schema
from extensor_conformance.catalogue import CURRENT, GROUPS, LEVELS, Requirement, load
from extensor_conformance.report.schema import report_schema

PROJECT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- from (?P<path>\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
LANGUAGES = {".py": "python", ".bicep": "bicep", ".json": "json", ".toml": "toml", ".sh": "sh"}


def generated() -> dict[Path, str]:
    """Every generated file with the text it should have."""
    schemas = {"protocol.json": protocol_schema(), "conformance-report.json": report_schema()}
    texts = {
        PROJECT / "docs/schemas" / name: f"{json.dumps(schema, indent=2, sort_keys=True)}\n"
        for name, schema in schemas.items()
    }
    texts[PROJECT / "docs/conformance-checks.md"] = checks_page()
    for page in [
        PROJECT / "README.md",
        *sorted((PROJECT / "docs").rglob("*.md")),
        *sorted((PROJECT / "examples").rglob("*.md")),
    ]:
        text = page.read_text(encoding="utf-8")
        if BLOCK.search(text):
            texts[page] = BLOCK.sub(_block, text)
    return texts


def checks_page() -> str:
    """The catalogue of the conformance kit as a page."""
    rows = load(CURRENT).values()
    core = sum(row.core for row in rows)
    parts = [
        "# The checks of the conformance kit\n\n"
        f"Protocol revision {CURRENT}: {core} core checks and {len(rows) - core} extended ones, made from the kit's "
        "requirements by `make docs`. A core check that was not tested costs its level; an extended one without its "
        "prerequisite does not. How to run them is in [conformance.md](conformance.md), the rules are in "
        "[protocol.md](protocol.md).\n"
    ]
    for group in GROUPS:
        own = [row for row in rows if row.group == group]
        parts.append(f"## {group.capitalize()}\n")
        parts.append("| check | | level | weight | tier | needs |\n|---|---|---|---|---|---|")
        parts += [_check_row(row) for row in own]
        parts += [*(_check_text(row) for row in own), ""]
    return "\n".join(parts).rstrip("\n") + "\n"


def _check_row(row: Requirement) -> str:
    weight = {"M": "must", "S": "should"}.get(row.severity, "information")
    level = f"L{row.level} {LEVELS[row.level]}"
    needs = ", ".join(row.needs)
    return f"| [{row.id}](#{row.id.lower()}) | {row.title} | {level} | {weight} | {row.tier} | {needs} |"


def _check_text(row: Requirement) -> str:
    facts = [f"Rules: {', '.join(row.rule)}"] if row.rule else []
    facts += [f"Planted bugs: {', '.join(row.mutants)}"] if row.mutants else []
    return (
        f"\n### {row.id}\n\n**{row.title}.** {row.sentence}\n\n- Why: {row.why}\n- Usual cause: {row.cause}\n"
        f"- Fix: {row.fix}{''.join(f'{chr(10)}- {fact}' for fact in facts)}"
    )


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
