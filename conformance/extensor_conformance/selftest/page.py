"""The kill matrix as Markdown: a page of its own, or the part of a page between two marks."""

import re
from pathlib import Path

from extensor_conformance.selftest.model import Matrix, Row

BEGIN, END = "<!-- matrix -->", "<!-- end of matrix -->"
_PART = re.compile(f"{re.escape(BEGIN)}\n.*?{re.escape(END)}", re.DOTALL)
_TITLES = {"reference": "References", "odd": "Odd but honest", "mutant": "Mutants"}


def render(matrix: Matrix) -> str:
    """The matrix as it stands below a heading: with which command, on which seeds, and every row."""
    counts = {kind: sum(row.kind == kind for row in matrix.rows) for kind in _TITLES}
    told = ", ".join(f"{count} {kind}{'s' if count > 1 and kind != 'odd' else ''}" for kind, count in counts.items())
    good = sum(row.good for row in matrix.rows)
    lines = [
        f"`{command(matrix)}`: {good} of {len(matrix.rows)} as they must be ({told}), in "
        f"{sum(row.runs for row in matrix.rows)} runs of the kit on {_seeds(matrix)}."
    ]
    for kind, title in _TITLES.items():
        rows = [row for row in matrix.rows if row.kind == kind]
        if rows:
            lines += ["", f"### {title}", "", *_table(rows, mutants=kind == "mutant")]
    bad = [row for row in matrix.rows if row.trouble]
    if bad:
        lines += ["", "What is not as it must be, or could not be looked at:", ""]
        lines += [f"- `{row.name}`: {_plain(row.trouble)}" for row in bad]
    if matrix.uncovered:
        lines += ["", f"No mutant shows {', '.join(matrix.uncovered)}."]
    return "\n".join(lines) + "\n"


def command(matrix: Matrix) -> str:
    """The command line that plays the same again."""
    only = "".join(f" --only '{name}'" for name in matrix.only)
    seed = f" --seed {matrix.seed}" if matrix.seed != 1 else ""
    return f"provider-conformance selftest --seeds {matrix.seeds}{seed}{only}"


def put_into(path: Path, text: str) -> str:
    """What a file is to hold: the text, or what it holds already with the text between its marks."""
    try:
        page = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return f"# The kill matrix\n\n{text}"
    if _PART.search(page) is None:
        return f"# The kill matrix\n\n{text}"
    return _PART.sub(lambda _: f"{BEGIN}\n{text}{END}", page)


def _seeds(matrix: Matrix) -> str:
    last = matrix.seed + matrix.seeds - 1
    own = f"seed {matrix.seed}" if matrix.seeds == 1 else f"seeds {matrix.seed} to {last}"
    return f"{own} (the references on {matrix.seed} to {last + matrix.seeds})"


def _table(rows: list[Row], *, mutants: bool) -> list[str]:
    must, line = ("must fail | ", "---|") if mutants else ("", "")
    lines = [f"| | name | what it is | {must}failed | seeds |", f"|---|---|---|{line}---|---|"]
    for row in rows:
        word = "-" if row.missing else "ok" if row.good else "BAD"
        failed = ", ".join(f"**{id_}**" if id_ in row.expected else id_ for id_ in row.seen) or "green"
        expected = f"{', '.join(row.expected)} | " if mutants else ""
        seeds = f"{len(row.turns) - len(row.bad)}/{len(row.turns)}"
        failed = "not run" if row.missing else failed
        lines.append(f"| {word} | `{row.name}` | {_plain(row.summary)} | {expected}{failed} | {seeds} |")
    return lines


def _plain(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
