"""SEC-02 and SEC-05: secrets of the configuration, and values that are made from secrets."""

import base64
import hashlib
from collections.abc import Iterable, Iterator

from extensor.contract import Json, JsonObject, Verb
from extensor.types.shape import shape_of
from extensor_conformance.adapters import Feature
from extensor_conformance.answers import Answer
from extensor_conformance.bench import Bench
from extensor_conformance.canary import Needles
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, Procedure, check
from extensor_conformance.checks.common import ABSENT, kind_with, properties_of, value_at, with_value
from extensor_conformance.draw import Draw
from extensor_conformance.kind import Kind
from extensor_conformance.steps import Call, Plan
from extensor_conformance.verdicts import NotApplicable, NotTested, Problem

DIGESTS = ("md5", "sha1", "sha256", "sha512")


def digests(secret: str) -> Iterator[tuple[str, bytes]]:
    """Plain digests of a secret, as they may be written."""
    for name in DIGESTS:
        digest = hashlib.new(name, secret.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
        for form in (digest.hex().encode(), base64.b64encode(digest).rstrip(b"=")):
            yield name, form


def _digest_in(answer: Answer, secrets: Iterable[str]) -> str | None:
    raw = answer.raw.lower()
    for secret in secrets:
        for name, form in digests(secret):
            if form in answer.raw or (len(form) in (32, 40, 64, 128) and form in raw):
                return name
    return None


@check("SEC-02", config=True, features={Feature.CONFIG_ID})
class ConfigurationSecrets(Procedure):
    """Calls with a secret configuration, and with another secret: nothing shows it, and configId stays."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        assert bench.provider is not None
        assert bench.provider.config_type is not None
        paths = [path for path in shape_of(bench.provider.config_type).secret if len(path) == 1]
        if not paths and not bench.fixture.secret_config:
            raise NotApplicable("no property of the configuration is secret")
        kind = kind_with(bench, Verb.SAVE, Verb.GET) or kind_with(bench, Verb.PREVIEW_SAVE)
        if kind is None:
            raise NotTested("no type has save and get, or previewSave")
        bench.kind = kind
        config = dict(bench.fixture.config)
        canary = ""
        for path in paths:
            if value_at(config, path) is ABSENT:
                canary = bench.canaries.fresh()
                config = with_value(config, path, canary)
        bench.watch.secrets.add(*([canary] if canary else []))
        needles = Needles([*bench.fixture.secrets, *([canary] if canary else [])])
        answers = list(self._walk(bench, kind, config))
        if answers[0][1].error is not None:
            raise NotTested(f"the configuration has to be given in conformance.toml: {answers[0][1].error}")
        problems = [
            Problem(f"the answer of {step} holds a secret of the configuration", _place(answer, needles), step)
            for step, answer in answers
            if needles.found_in(answer.raw)
        ]
        known = {answer.config_id for _, answer in answers if answer.ok}
        if len(known) > 1:
            problems.append(Problem("one configuration has several configIds", "$.configId", answers[-1][0]))
        if canary:
            problems += self._other_secret(bench, kind, config, canary, answers[0][1])
        return problems

    def _walk(self, bench: Bench, kind: Kind, config: JsonObject) -> Iterator[tuple[str, Answer]]:
        body = bench.valid()
        if not kind.has(Verb.SAVE, Verb.GET):
            yield "preview", bench.preview(body, config=config, config_id=None)
            return
        yield "save", bench.save(body, config=config, config_id=None)
        yield "get", bench.get(body, config=config)
        if kind.has(Verb.PREVIEW_SAVE):
            yield "preview", bench.preview(body, config=config)
        yield "wrong type of config", bench.save(body, config={**config, "noSuchSetting": [list(config.values())]})
        if kind.has(Verb.DELETE):
            yield "delete", bench.delete(body, config=config)

    def _other_secret(
        self, bench: Bench, kind: Kind, config: JsonObject, canary: str, first: Answer
    ) -> Iterator[Problem]:
        second = bench.canaries.fresh()
        other = {name: second if value == canary else value for name, value in config.items()}
        body = bench.valid()
        verb = Verb.SAVE if kind.has(Verb.SAVE) else Verb.PREVIEW_SAVE
        answer = bench.call(verb, body, config=other, config_id=None)
        if answer.error is not None:
            return  # the backend knows the one secret alone
        if answer.config_id != first.config_id:
            yield Problem("configId changes with a secret alone", "$.configId", "other secret")
        found = _digest_in(answer, [second])
        if found is not None:
            yield Problem(f"an answer holds a plain {found} digest of a secret", "$", "other secret")
        if kind.has(Verb.DELETE) and verb is Verb.SAVE:
            bench.delete(body, config=other)


def _place(answer: Answer, needles: Needles) -> str:
    if isinstance(answer.result, dict):
        for name, value in answer.result.items():
            if needles.found_in(repr(value).encode("utf-8", "surrogatepass")):
                return f"$.{name}"
    return "$" if answer.error is None else "$.error"


@check("SEC-05", operations={Verb.SAVE}, examples=2)
class DerivedValues(CaseCheck):
    """Two saves that differ in their secrets alone."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        first = kind.valid(draw, full=True)
        second = first
        for path in secret_texts(kind, first):
            second = with_value(second, path, draw.canaries.fresh())
        if first == second:
            return
        calls = (
            Call("first", Verb.SAVE, first),
            Call("get first", Verb.GET, kind.identifiers(first)),
            Call("second", Verb.SAVE, second),
            Call("get second", Verb.GET, kind.identifiers(first)),
        )
        yield Plan(tuple(call for call in calls if kind.has(call.verb)))

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        first, second = trial.result("first"), trial["second"]
        if second.error is not None:
            raise NotTested(f"the secret cannot be changed: {second.error}")
        problems: list[Problem] = []
        if first.identifiers != second.identifiers:
            problems.append(Problem("the identifiers change with a secret alone", "$.identifiers", "second"))
        if first.config_id != second.config_id:
            problems.append(Problem("configId changes with a secret alone", "$.configId", "second"))
        secrets = [
            str(value_at(trial.sent(step), path))
            for step in ("first", "second")
            for path in secret_texts(kind, trial.sent(step))
        ]
        for step in ("first", "get first", "second", "get second"):
            if step in trial and (found := _digest_in(trial[step], secrets)) is not None:
                place = _digest_place(trial[step].result, secrets)
                problems.append(Problem(f"{step} shows a plain {found} digest of a secret", place, step))
        return problems


def _digest_place(value: Json, secrets: list[str], path: str = "$") -> str:
    """The innermost place that holds a digest."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        here = f"{path}.{key}" if isinstance(key, str) else f"{path}[{key}]"
        if _digest_in(Answer(raw=repr(item).encode("utf-8", "surrogatepass")), secrets) is not None:
            return _digest_place(item, secrets, here)
    return path


def secret_texts(kind: Kind, body: JsonObject) -> list[tuple[str | int, ...]]:
    """Paths of the secret texts in a body."""
    secret = set(kind.shape.secret)
    found: list[tuple[str | int, ...]] = []
    for path, item in properties_of(kind, body):
        plain = tuple(part for part in path if isinstance(part, str))
        sensitive = getattr(item.type, "sensitive", False) or plain in secret
        if sensitive and isinstance(value_at(body, path), str):
            found.append(path)
    return found
