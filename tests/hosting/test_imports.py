"""What importing this room costs."""

import subprocess
import sys

HEAVY = ("pydantic", "pydantic_core", "jsonschema", "importlib.metadata", "jsonrpcserver", "trio", "ssl")


def test_importing_hosting_imports_nothing_heavy():
    script = f"import sys, extensor.hosting; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_a_command_is_found_without_reading_what_is_installed():
    script = (
        "import sys; from extensor.hosting import find; find('x', command='sh');"
        "print('importlib.metadata' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"
