import subprocess
import sys


def test_the_contract_is_imported_without_pydantic() -> None:
    heavy = {"pydantic", "anyio", "asyncio", "json"}
    code = f"import sys, extensor.contract, extensor.errors; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
