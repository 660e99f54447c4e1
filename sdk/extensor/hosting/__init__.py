"""Find, launch, greet, call, restart and stop providers. Never imports the author's side.

spec = find("files")
async with Host() as host:
    session = await host.start(spec, want_version="1.0.0")
    result = await session.perform(Verb.SAVE, data, budget=600)
"""

from extensor.hosting.environment import environment
from extensor.hosting.host import Host
from extensor.hosting.launch import GROUP, LaunchSpec, find, installed
from extensor.hosting.notices import CallLabel, LogEntry, ProgressNotice, RetryNotice, Token, TokenRequest, TokenSource
from extensor.hosting.retry import BackOff, Clock, Operation, SystemClock, code_of, is_unclear, shows
from extensor.hosting.session import ListedType, ProviderSession
from extensor.hosting.timeouts import StopLadder

__all__ = [
    "GROUP",
    "BackOff",
    "CallLabel",
    "Clock",
    "Host",
    "LaunchSpec",
    "ListedType",
    "LogEntry",
    "Operation",
    "ProgressNotice",
    "ProviderSession",
    "RetryNotice",
    "StopLadder",
    "SystemClock",
    "Token",
    "TokenRequest",
    "TokenSource",
    "code_of",
    "environment",
    "find",
    "installed",
    "is_unclear",
    "shows",
]
