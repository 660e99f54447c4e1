"""The JSON beside each Bicep template is what the real compiler makes of it, with our published types."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

NAMES = ["site", "quickstart"]


@pytest.fixture(scope="module")
def compile_module(project: Path) -> ModuleType:
    """`examples/compile.py`, which is a program and no module of a package."""
    spec = importlib.util.spec_from_file_location("examples_compile", project / "examples/compile.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def compiler(compile_module: ModuleType, request: pytest.FixtureRequest) -> Path:
    """The real compiler: given by BICEP, on the search path, or beside a development checkout."""
    found = compile_module.find_compiler()
    return found or request.getfixturevalue("shared") / "tools/bicep/bicep"


@pytest.mark.parametrize("name", NAMES)
def test_the_compiled_template_is_in_step_with_its_source(
    project: Path, compile_module: ModuleType, compiler: Path, name: str, tmp_path: Path
) -> None:
    compiled = compile_module.compile_example(name, compiler, tmp_path)
    beside = project / "examples" / name / "main.json"
    assert json.loads(beside.read_text()) == json.loads(compiled), "run: python examples/compile.py"
    assert beside.read_text() == compiled


def test_the_site_has_what_a_newcomer_should_see(project: Path) -> None:
    template = json.loads((project / "examples/site/main.json").read_text())
    resources = template["resources"].values()
    assert len(template["parameters"]) >= 4
    assert sum("copy" in one for one in resources) >= 4
    assert sum("condition" in one for one in resources) >= 2
    assert sum(bool(one.get("existing")) for one in resources) == 1
    assert "sha256" in json.dumps(template["resources"]["manifest"])
