"""``target.name`` and ``target[index]``."""

from extensor.contract.json import Json
from extensor.contract.unknown import Unknown
from extensor.template.parser import member_suffix
from extensor.template.refusal import Refusal, nearest
from extensor.template.residue import inner_text, residue, value_text
from extensor.template.values import find_key, kind_of


def member(target: Json, name: str) -> Json:
    """A property, its name compared without letter case; of an unknown, an unknown. Raises `Refusal`."""
    if isinstance(target, dict):
        key = find_key(target, name)
        if key is None:
            raise Refusal(
                f"the object has no property '{name}'; {nearest(name, target, noun='available properties')}, "
                f"or use tryGet() where it may be absent"
            )
        return target[key]
    if type(target) is Unknown:
        text = inner_text(target)
        return residue(None if text is None else text + member_suffix(name))
    if target is None:
        raise Refusal(f"property '{name}' is asked of null; use tryGet() or coalesce() where the value may be null")
    raise Refusal(f"property '{name}' is asked of {kind_of(target)}; only objects have properties")


def element(target: Json, index: Json) -> Json:
    """An array's element or an object's property. Raises `Refusal`."""
    if isinstance(index, str) and type(target) is not Unknown:
        return member(target, index)
    if type(index) is Unknown or type(target) is Unknown:
        left, right = value_text(target), value_text(index)
        return residue(None if left is None or right is None else f"{left}[{right}]")
    if isinstance(target, list):
        if isinstance(index, bool) or not isinstance(index, int):
            raise Refusal(f"an array's index is an integer, not {kind_of(index)}")
        if 0 <= index < len(target):
            return target[index]
        raise Refusal(f"index {index} is outside the array of {len(target)} elements")
    if isinstance(target, dict):
        raise Refusal(f"an object's property is named by a string, not by {kind_of(index)}")
    raise Refusal(f"an element is asked of {kind_of(target)}; only arrays and objects have elements")
