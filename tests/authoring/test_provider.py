from typing import Any

import pytest
from pydantic import BaseModel

from extensor import Context, Identifier, Properties, Provider, ResourceHandler
from extensor.contract import Verb


class Note(Properties):
    name: Identifier[str]


class Config(BaseModel):
    url: str


class Reader(ResourceHandler[Note]):
    async def get(self, ctx: Context, wanted: Note) -> Note | None:
        return wanted


class Writer(ResourceHandler[Note, Config]):
    async def save(self, ctx: Context[Config], desired: Note) -> Note:
        return desired


def test_a_handler_knows_its_models():
    assert (Reader.properties_model, Reader.config_model) == (Note, None)
    assert (Writer.properties_model, Writer.config_model) == (Note, Config)


def test_models_are_inherited_with_the_handler():
    class Special(Writer):
        pass

    assert (Special.properties_model, Special.config_model) == (Note, Config)


def test_what_a_type_answers_follows_from_its_handler():
    provider = Provider("p", "1.0.0", config=Config)
    provider.resource("reader@1")(Reader)
    provider.resource("Writer@1")(Writer)
    assert provider.resources["reader@1"].offered == [Verb.GET]
    assert provider.resources["writer@1"].offered == [Verb.SAVE, Verb.PREVIEW_SAVE]


def test_two_providers_share_nothing():
    one, other = Provider("one", "1.0.0"), Provider("other", "1.0.0")
    one.resource("note@1.0")(Reader)
    assert list(one.resources) == ["note@1.0"]
    assert not other.resources


def test_a_handler_object_may_be_given_and_a_class_is_made_when_first_needed():
    made: list[str] = []

    class Counting(Reader):
        def __init__(self, name: str = "class") -> None:
            made.append(name)

    provider = Provider("p", "1.0.0")
    provider.add("one@1", Counting("object"))
    provider.add("two@1", Counting)
    assert made == ["object"]
    assert Verb.GET in provider.resources["two@1"].operations
    assert provider.resources["two@1"].operations
    assert made == ["object", "class"]


class Bare(ResourceHandler[Any]):
    async def get(self, ctx: Context, wanted: Any) -> Any: ...


class Empty(ResourceHandler[Note]):
    pass


@pytest.mark.parametrize(
    ("name", "handler", "error", "says"),
    [
        ("note", Reader, ValueError, "name@version"),
        ("other:note@1", Reader, ValueError, "names the provider"),
        ("taken@1", Reader, ValueError, "has a handler already"),
        ("TAKEN@1", Reader, ValueError, "has a handler already"),
        ("note@1", Bare, TypeError, "does not say its properties"),
        ("note@1", Empty, TypeError, "defines none of"),
        ("note@1", Writer, TypeError, "expects the configuration Config"),
    ],
)
def test_a_registration_that_cannot_work_is_refused_at_once(name: str, handler: Any, error: type[Exception], says: str):
    provider = Provider("p", "1.0.0")
    provider.resource("taken@1")(Reader)
    with pytest.raises(error, match=says):
        provider.resource(name)(handler)


def test_a_provider_needs_a_name_and_a_version():
    with pytest.raises(ValueError, match="name and a version"):
        Provider("", "1.0.0")


def _handler(name: str, method: Any) -> type[ResourceHandler[Note]]:
    return type("Handler", (Reader,), {name: method})


async def _verb_like(self: Any, ctx: Context, desired: Note) -> Note:
    return desired


def _helper(self: Any, text: str) -> str:
    return text


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("sav", "save"),
        ("Save", "save"),
        ("saved", "save"),
        ("delet", "delete"),
        ("previewSave", "preview_save"),
        ("preview_saves", "preview_save"),
        ("preview", "preview_save"),
        ("create", "save"),
        ("createOrUpdate", "save"),
        ("gets", "get"),
    ],
)
def test_a_method_that_is_meant_for_a_verb_and_would_never_be_called_is_refused(name: str, meant: str):
    with pytest.raises(TypeError, match=rf"Handler\.{name} is no verb .* rename it to {meant}, or to _{name}"):
        Provider("p", "1.0.0").add("note@1.0", _handler(name, _verb_like))


@pytest.mark.parametrize("name", ["sav", "delet"])
def test_a_misspelt_verb_is_refused_whatever_it_takes(name: str):
    with pytest.raises(TypeError, match="is no verb"):
        Provider("p", "1.0.0").add("note@1.0", _handler(name, _helper))


@pytest.mark.parametrize("name", ["path_of", "create", "read", "gets", "_sav", "close", "target"])
def test_a_helper_of_a_handler_is_none_of_our_business(name: str):
    provider = Provider("p", "1.0.0")
    provider.add("note@1.0", _handler(name, _helper))
    assert provider.resources["note@1.0"].verbs == {Verb.GET}


def test_another_word_for_a_verb_that_is_there_may_take_a_context():
    Provider("p", "1.0.0").add("note@1.0", _handler("read", _verb_like))
