"""What we write, read by the real Bicep compiler."""

import json
import os
import subprocess
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, RootModel

from extensor.types.flags import Calculated, Identifier, Immutable, ReadOnly, Secret, WriteOnly
from extensor.types.models import index_of


class Certificate(BaseModel):
    method: Literal["certificate"] = "certificate"
    thumbprint: str


class Password(BaseModel):
    method: Literal["password"] = "password"
    password: Secret[str]


class SignIn(RootModel[Annotated[Certificate | Password, Field(discriminator="method")]]):
    pass


class Owner(BaseModel):
    """Who answers for the note."""

    name: Identifier[str]
    reports_to: "Owner | None" = Field(None, alias="reportsTo")


class Note(BaseModel):
    name: Identifier[str] = Field(description="What it is called.")
    owner: Identifier[Owner]
    text: Annotated[str, Field(min_length=2)]
    colour: Literal["red", "blue"] = "red"
    size: Immutable[int] = Field(3, ge=1, le=9)
    ratio: float = 1.0
    labels: dict[str, str] = {}
    password: Secret[WriteOnly[str | None]] = None
    words: ReadOnly[int | None] = None
    stamp: Calculated[ReadOnly[str | None]] = None


class Fact(BaseModel):
    key: Identifier[str]
    value: ReadOnly[str | None] = None


GOOD = """
extension demo with { method: 'password', password: 'x1y2' } as d
resource owned 'note@1.0' = {
  name: 'first'
  owner: { name: 'ann', reportsTo: { name: 'bob' } }
  text: 'hello'
  colour: 'blue'
  size: 4
  ratio: json('1.5')
  labels: { a: 'b' }
}
resource old 'note@1.0' existing = {
  name: 'second'
  owner: { name: 'ann' }
}
resource fact 'fact@1.0' existing = {
  key: 'k'
}
output words int = owned.words
output text string = old.text
output value string = fact.value
"""

# A missing identifier or an unknown name is an error; of other mismatches in a resource's body the compiler warns.
FULL = "name: 'a'\n  owner: { name: 'x' }\n  text: 'xx'"
BAD = [
    ("Error BCP035", "owner", "resource a 'note@1.0' = {\n  name: 'a'\n  text: 'xx'\n}"),
    ("Warning BCP035", "text", "resource b 'note@1.0' = {\n  name: 'a'\n  owner: { name: 'x' }\n}"),
    ("Warning BCP036", "'blue' | 'red'", f"resource c 'note@1.0' = {{\n  {FULL}\n  colour: 'green'\n}}"),
    ("Warning BCP073", "words", f"resource d 'note@1.0' = {{\n  {FULL}\n  words: 3\n}}"),
    ("Error BCP089", "colours", f"resource e 'note@1.0' = {{\n  {FULL}\n  colours: 'red'\n}}"),
    ("BCP245", "fact@1.0", "resource f 'fact@1.0' = {\n  key: 'a'\n}"),
    ("Error BCP077", "password", f"resource g 'note@1.0' = {{\n  {FULL}\n}}\noutput o string = g.password!"),
    ("Error BCP036", "'certificate' | 'password'", ""),
]


@pytest.fixture
def bicep(shared: Path) -> Path:
    tool = shared / "tools/bicep/bicep"
    if not os.access(tool, os.X_OK):
        pytest.skip(f"no Bicep compiler at {tool}")
    return tool


def test_the_bicep_compiler_reads_our_types_and_holds_templates_to_them(bicep: Path, tmp_path: Path) -> None:
    index, files = index_of(
        "demo", "1.2.0", {"note@1.0": Note, "fact@1.0": Fact}, SignIn, without_save={"fact@1.0"}
    ).write()
    for path, text in {"index.json": index, **files}.items():
        (tmp_path / path).write_text(text)
    env = {
        **os.environ,
        "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1",
        "HOME": str(tmp_path),
        "DOTNET_BUNDLE_EXTRACT_BASE_DIR": os.environ.get("DOTNET_BUNDLE_EXTRACT_BASE_DIR", str(tmp_path / "bundle")),
    }

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [bicep, *arguments], cwd=tmp_path, env=env, text=True, capture_output=True, timeout=60, check=False
        )

    published = run("publish-extension", "index.json", "--target", "demo.tgz")
    assert published.returncode == 0, published.stderr
    (tmp_path / "bicepconfig.json").write_text(
        json.dumps(
            {
                "experimentalFeaturesEnabled": {"localDeploy": True},
                "extensions": {"demo": "./demo.tgz"},
                "implicitExtensions": [],
                "cacheRootDirectory": str(tmp_path / "cache"),
            }
        )
    )
    (tmp_path / "good.bicep").write_text(f"targetScope = 'local'\n{GOOD}")
    bad = "\n".join(text for _, _, text in BAD)
    (tmp_path / "bad.bicep").write_text(f"targetScope = 'local'\nextension demo with {{ method: 'none' }}\n{bad}")

    built = run("build", "good.bicep", "--stdout")
    refused = run("build", "bad.bicep", "--stdout")

    assert built.returncode == 0, built.stderr
    assert "Error" not in built.stderr
    template = json.loads(built.stdout)
    assert template["imports"]["d"] == {
        "provider": "demo",
        "version": "1.2.0",
        "config": {"method": "password", "password": "x1y2"},
    }
    assert template["resources"]["owned"]["type"] == "note@1.0"
    assert template["resources"]["old"] == {
        "existing": True,
        "import": "d",
        "type": "note@1.0",
        "properties": {"name": "second", "owner": {"name": "ann"}},
    }
    assert refused.returncode == 1
    said = refused.stderr.splitlines()
    assert [(code, word) for code, word, _ in BAD if not any(code in line and word in line for line in said)] == []
