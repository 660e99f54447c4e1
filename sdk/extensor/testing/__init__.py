"""For tests of providers: a host in memory, with nothing faked between it and the handler."""

from extensor.testing.host import Host, connect

__all__ = ["Host", "connect"]
