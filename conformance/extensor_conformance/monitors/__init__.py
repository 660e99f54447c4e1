"""Passive monitors: each sees every message of every case and reports under its own check ids."""

from extensor_conformance.monitors.base import Exchange, Finding, Monitor
from extensor_conformance.monitors.every import MONITORED, every_monitor

__all__ = ["MONITORED", "Exchange", "Finding", "Monitor", "every_monitor"]
