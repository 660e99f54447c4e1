"""Looks at the notes behind the provider's back, for the conformance kit:

provider-conformance run --probe "python probe.py" -- python -m quickstart
"""

import json
import sys
from pathlib import Path

question, verb = json.load(sys.stdin), sys.argv[1]
note = Path(f"{question['identifiers'].get('name')}.txt")
answer: dict[str, object] = {}
if verb == "exists":
    answer["exists"] = note.is_file()
elif verb == "list":
    answer["objects"] = [{"name": path.stem} for path in Path().glob("*.txt")]
elif verb == "mutate":
    note.write_bytes(question["change"]["text"].encode())
else:
    note.unlink()
print(json.dumps(answer))
