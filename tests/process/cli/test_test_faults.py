"""The variable that lets providers fail on purpose is for those who start them for that; no deployment passes it on."""

from typing import Any


def test_a_deployment_does_not_let_providers_fail_on_purpose(stage: Any) -> None:
    stage.template({"one": stage.resource("note", name="one", text="hi")})
    file = stage.folder / "faults.json"
    told = '{"fault": "denied", "times": 9}'
    file.write_text(told)
    done = stage.process("deploy", "main.json", "--verbose", env={"EXTENSOR_TEST_FAULTS": str(file)})
    assert done.returncode == 0, done
    assert "test faults" not in done.stdout + done.stderr
    assert file.read_text() == told
