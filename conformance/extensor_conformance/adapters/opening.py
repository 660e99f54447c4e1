"""A connection that is wanted."""

from dataclasses import dataclass

from extensor_conformance.adapters.framing import Framing
from extensor_conformance.subject import Subject
from extensor_conformance.watch import Watch


@dataclass(frozen=True, slots=True)
class Opening:
    """To whom, who watches, what transcripts call it, in what frames, and how long a listener may take to be there."""

    subject: Subject
    watch: Watch
    name: str
    framing: Framing
    start_timeout: float
