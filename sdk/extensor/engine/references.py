"""What `reference()` sees of other resources at this point of a run, and who asked for whom."""

from extensor.contract import Json, Unknown
from extensor.engine.plan import Plan, no_such_resource
from extensor.template.refusal import Refusal


class References:
    """The callback of a `Scope`. A resource that has no value yet is unknown; one that is skipped is refused."""

    def __init__(self) -> None:
        self._plan: Plan | None = None
        self._values: dict[str, Json] = {}
        self._asked: set[str] | None = None

    def bind(self, plan: Plan) -> None:
        """Learn which resources there are. Before that nothing is known of any."""
        self._plan = plan

    def tell(self, key: str, value: Json) -> None:
        """From now on this is what an instance's properties are; an `Unknown` where they are not known."""
        self._values[key] = value

    def record(self) -> set[str]:
        """The keys that are asked for from now on, until the next call."""
        self._asked = set()
        return self._asked

    def __call__(self, name: str) -> Json:
        """The properties of an instance. Raises `Refusal` for one that takes no part."""
        if self._asked is not None:
            self._asked.add(name)
        if name in self._values:
            return self._values[name]
        if self._plan is not None:
            if name in self._plan.skipped:
                raise Refusal(
                    f"the resource '{name}' does not take part, its condition is false; guard the reference with if()"
                )
            if name not in self._plan.instances:
                raise Refusal(no_such_resource(self._plan, name))
        return Unknown()
