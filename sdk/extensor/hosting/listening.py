"""What a provider says unasked: log lines, progress, questions for a token, and what should not have been said."""

import logging
from collections import Counter
from collections.abc import Callable
from typing import Literal, TypeVar

from extensor.contract import HostCapabilities, Json, RpcCode
from extensor.contract.handshake import ACQUIRE_TOKEN, LOG, PROGRESS
from extensor.contract.redaction import Redactor
from extensor.errors import OperationFailed
from extensor.hosting.notices import CallLabel, LogEntry, OnLog, OnProgress, ProgressNotice, TokenRequest, TokenSource
from extensor.rpc import Request, RpcFailure

_log = logging.getLogger("extensor.hosting")
_Notice = TypeVar("_Notice")

LEVELS = frozenset({"debug", "info", "warning", "error"})
"""The words that a line of stderr may begin with, before a colon and a blank."""
_A_HOSTS = ("provider/", "resource/")
"""What only a host asks for. Whoever asks a host for it sends back what it got."""


class Listener:
    """Takes everything that comes from one provider besides answers, and hands it on with known secrets masked."""

    def __init__(
        self,
        label: str,
        redactor: Redactor,
        on_log: OnLog | None = None,
        on_progress: OnProgress | None = None,
        token_source: TokenSource | None = None,
    ) -> None:
        self.owed: Counter[str] = Counter()
        """How many calls of each method wait for their answers; kept by the session, named beside stray output."""
        self.echoed = False
        """Whether the other end sent one of our own requests back: then it is no provider."""
        self.redactor = redactor
        self._label = label
        self._on_log = on_log
        self._on_progress = on_progress
        self._token_source = token_source

    @property
    def capabilities(self) -> HostCapabilities:
        """What the handshake may promise, for somebody listens."""
        return HostCapabilities(
            progress=self._on_progress is not None,
            log=self._on_log is not None,
            tokens=self._token_source is not None,
        )

    async def serve(self, request: Request) -> Json:
        """Answer a provider's request; there is one, `host/acquireToken`."""
        if request.method.startswith(_A_HOSTS):
            self.echoed = True
        source = self._token_source
        if request.method != ACQUIRE_TOKEN or source is None:
            raise RpcFailure(RpcCode.METHOD_NOT_FOUND, f"this host does not offer {request.method}")
        params = request.params if isinstance(request.params, dict) else {}
        scopes = params.get("scopes")
        claims = params.get("claims")
        if not isinstance(scopes, list) or not all(isinstance(scope, str) for scope in scopes):
            raise RpcFailure(RpcCode.INVALID_PARAMS, "scopes is a list of texts")
        wanted = TokenRequest(
            tuple(scopes), claims if isinstance(claims, str) else None, params.get("forceRefresh") is True
        )
        try:
            token = await source(wanted)
        except OperationFailed as error:
            raise RpcFailure(RpcCode.OPERATION_FAILED, str(error), error.failure.to_wire()) from error
        self.redactor.add(token.token)
        return token.to_wire()

    def on_notification(self, method: str, params: Json, label_of: Callable[[Json], object]) -> None:
        """Take `$/log` and `$/progress`; others mean nothing to a host. `label_of` knows the calls that wait."""
        wire = params if isinstance(params, dict) else {}
        message = str(wire.get("message", ""))
        label = label_of(wire.get("id"))
        call = label if isinstance(label, CallLabel) else None
        if method == LOG:
            self._remark("log", str(wire.get("level", "info")), message, call)
        elif method == PROGRESS and self._on_progress is not None:
            percent = wire.get("percent")
            number = float(percent) if isinstance(percent, int | float) and not isinstance(percent, bool) else None
            notice = ProgressNotice(self._label, wire.get("id"), self.redactor.text(message), number, call)
            _tell(self._on_progress, notice)

    def on_stray(self, text: str) -> None:
        """Take what was no message; `text` quotes its first bytes. It was skipped (P-CONN-09)."""
        owed = ", ".join(sorted(method for method, count in self.owed.items() if count)) or "no call"
        self._remark(
            "host",
            "warning",
            f"provider {self._label} wrote to its stdout what is no message, while it owed an answer to {owed}: {text}",
        )

    def on_line(self, line: str) -> None:
        """Take a line of stderr; it may begin with its level (P-CONN-06)."""
        word, colon, rest = line.partition(": ")
        if colon and word in LEVELS:
            self._remark("stderr", word, rest)
        else:
            self._remark("stderr", "info", line)

    def _remark(
        self,
        source: Literal["stderr", "log", "host"],
        level: str,
        message: str,
        call: CallLabel | None = None,
    ) -> None:
        if self._on_log is not None:
            _tell(self._on_log, LogEntry(self._label, source, level, self.redactor.text(message), call))


def _tell(listener: Callable[[_Notice], None], notice: _Notice) -> None:
    try:
        listener(notice)
    except Exception:  # a listener's fault must not end the connection it listens to
        _log.exception("a listener failed")
