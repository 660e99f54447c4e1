"""Looks below the root of the provider `files` behind its back, for the conformance kit.

python probe.py exists|list|mutate|remove < question > answer
"""

import json
import sys
from pathlib import Path
from typing import Any


def main(verb: str, question: dict[str, Any]) -> dict[str, Any]:
    root = Path(question["config"]["root"])
    is_kind = Path.is_file if question["type"].startswith("file@") else Path.is_dir
    if verb == "list":
        found = (path for path in root.rglob("*") if is_kind(path) and not path.is_symlink())
        return {"objects": [{"path": str(path.relative_to(root))} for path in found]}
    place = root / question["identifiers"]["path"]
    if verb == "exists":
        return {"exists": is_kind(place) and not place.is_symlink()}
    if verb == "mutate":
        change = question["change"]
        if "content" in change:
            place.write_bytes(change["content"].encode())
        if "mode" in change:
            place.chmod(int(change["mode"], 8))
        strange = change.keys() - {"content", "mode"}
        if strange:
            sys.exit(f"a change of {', '.join(sorted(strange))} is none that can be made here")
    elif is_kind is Path.is_file:
        place.unlink()
    else:
        place.rmdir()
    return {}


print(json.dumps(main(sys.argv[1], json.load(sys.stdin))))
