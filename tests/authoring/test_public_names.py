import pydoc
import subprocess
import sys

import pytest

import extensor


def test_the_author_gets_at_most_24_sorted_names_and_each_is_there():
    assert extensor.__all__ == sorted(extensor.__all__)
    assert len(extensor.__all__) <= 24
    for name in extensor.__all__:
        assert getattr(extensor, name) is not None
    assert set(extensor.__all__) <= set(dir(extensor))


def test_a_name_that_is_not_promised_is_an_attribute_error():
    assert not hasattr(extensor, "Deployment")


def test_importing_extensor_loads_neither_pydantic_nor_an_event_loop():
    heavy = "('pydantic', 'anyio', 'asyncio', 'typing_extensions')"
    code = f"import extensor, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.strip() == "[]"


def test_errors_and_marks_come_without_pydantic():
    code = "from extensor import NotFound, Identifier, Unknown; import sys; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("name", ["Calculated", "Identifier", "Immutable", "ReadOnly", "Secret", "WriteOnly"])
def test_help_on_a_mark_tells_what_it_means(name: str):
    page = pydoc.render_doc(getattr(extensor, name), renderer=pydoc.plaintext)
    words = getattr(extensor, name).__doc__
    assert f"{name}[" in words
    assert words[:40] in " ".join(page.split())
