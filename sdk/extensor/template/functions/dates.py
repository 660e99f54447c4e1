"""Dates: .NET date formats, ISO 8601 durations, seconds since 1970."""

import re
from datetime import UTC, datetime, timedelta

from extensor.contract.json import Json
from extensor.template.functions.table import Function, integer, text
from extensor.template.refusal import Refusal

_BASIC = "yyyyMMddTHHmmssZ"
_STANDARD = {
    "d": "MM/dd/yyyy",
    "D": "dddd, dd MMMM yyyy",
    "f": "dddd, dd MMMM yyyy HH:mm",
    "F": "dddd, dd MMMM yyyy HH:mm:ss",
    "g": "MM/dd/yyyy HH:mm",
    "G": "MM/dd/yyyy HH:mm:ss",
    "m": "MMMM dd",
    "M": "MMMM dd",
    "o": "yyyy-MM-ddTHH:mm:ss.fffffffK",
    "O": "yyyy-MM-ddTHH:mm:ss.fffffffK",
    "r": "ddd, dd MMM yyyy HH:mm:ss 'GMT'",
    "R": "ddd, dd MMM yyyy HH:mm:ss 'GMT'",
    "s": "yyyy-MM-ddTHH:mm:ss",
    "t": "HH:mm",
    "T": "HH:mm:ss",
    "u": "yyyy-MM-dd HH:mm:ss'Z'",
    "y": "yyyy MMMM",
    "Y": "yyyy MMMM",
}
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_PART = re.compile(r"'([^']*)'|\"([^\"]*)\"|\\(.)|%?(y+|M+|d+|H+|h+|m+|s+|f+|F+|t+|K|z+)|(.)", re.DOTALL)
_DURATION = re.compile(
    r"(-)?P(?:(\d{1,9})Y)?(?:(\d{1,9})M)?(?:(\d{1,9})W)?(?:(\d{1,9})D)?"
    r"(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})(?:\.(\d{1,6})\d*)?S)?)?\Z"
)


def format_date(moment: datetime, pattern: str | None, *, basic: bool = False) -> str:
    """A moment in UTC in a .NET format; ``None`` is ``yyyyMMddTHHmmssZ`` if `basic`, else ISO 8601 with a ``Z``."""
    moment = moment.astimezone(UTC)
    if pattern is None:
        return _custom(moment, _BASIC if basic else "yyyy-MM-ddTHH:mm:ssZ")
    if len(pattern) == 1:
        if pattern not in _STANDARD:
            raise Refusal(f"'{pattern}' is no standard date format; write '%{pattern}' for a single custom part")
        pattern = _STANDARD[pattern]
    return _custom(moment, pattern)


def parse_date(written: str) -> datetime:
    """A moment from ISO 8601 or the language's own ``20230401T010038Z``; UTC where no offset is given."""
    try:
        moment = datetime.fromisoformat(written.strip())
    except ValueError:
        raise Refusal("the date is not written as in ISO 8601, such as 2023-04-01T01:00:38Z") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _custom(moment: datetime, pattern: str) -> str:
    return "".join(
        _part(moment, match.group(4))
        if match.group(4)
        else next((text for text in (match.group(1), match.group(2), match.group(3), match.group(5)) if text), "")
        for match in _PART.finditer(pattern)
    )


def _part(moment: datetime, part: str) -> str:
    width = len(part)
    match part[0]:
        case "y":
            return f"{moment.year % 100:0{width}d}" if width < 3 else f"{moment.year:0{width}d}"
        case "M":
            if width > 2:
                name = _MONTHS[moment.month - 1]
                return name if width > 3 else name[:3]
            return f"{moment.month:0{width}d}"
        case "d":
            if width > 2:
                name = _DAYS[moment.weekday()]
                return name if width > 3 else name[:3]
            return f"{moment.day:0{width}d}"
        case "H":
            return f"{moment.hour:0{min(width, 2)}d}"
        case "h":
            return f"{(moment.hour + 11) % 12 + 1:0{min(width, 2)}d}"
        case "m":
            return f"{moment.minute:0{min(width, 2)}d}"
        case "s":
            return f"{moment.second:0{min(width, 2)}d}"
        case "f":
            return f"{moment.microsecond:06d}0"[:width]
        case "F":
            return f"{moment.microsecond:06d}0"[:width].rstrip("0")
        case "t":
            return ("AM", "PM")[moment.hour >= 12][: min(width, 2)]
        case "z":
            return ("+0", "+00", "+00:00")[min(width, 3) - 1]
        case _:
            return "Z"


def _add_duration(moment: datetime, duration: str) -> datetime:
    match = _DURATION.match(duration)
    if match is None or not any(match.groups()[1:]):
        raise Refusal("the duration is not written as in ISO 8601, such as P1D or -PT2H30M")
    sign = -1 if match.group(1) else 1
    years, months, weeks, days, hours, minutes, seconds = (int(part or 0) * sign for part in match.groups()[1:8])
    micros = int((match.group(9) or "").ljust(6, "0")) * sign
    try:
        month = moment.year * 12 + moment.month - 1 + years * 12 + months
        year, month = divmod(month, 12)
        first = moment.replace(year=year, month=month + 1, day=1)
        last_day = (first.replace(year=year + month // 11, month=(month + 1) % 12 + 1) - timedelta(days=1)).day
        moment = first.replace(day=min(moment.day, last_day))
        return moment + timedelta(
            weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds, microseconds=micros
        )
    except (ValueError, OverflowError):
        raise Refusal("the date lies outside the years 1 to 9999") from None


def _date_time_add(base: Json, duration: Json, pattern: Json = None) -> Json:
    moment = _add_duration(parse_date(text(base, "the date")), text(duration, "the duration"))
    return format_date(moment, None if pattern is None else text(pattern, "the format"))


def _from_epoch(seconds: Json) -> Json:
    try:
        return format_date(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=integer(seconds)), None)
    except OverflowError:
        raise Refusal("the date lies outside the years 1 to 9999") from None


def _to_epoch(written: Json) -> Json:
    return (parse_date(text(written)) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)


FUNCTIONS = (
    Function("dateTimeAdd", 2, 3, _date_time_add),
    Function("dateTimeFromEpoch", 1, 1, _from_epoch),
    Function("dateTimeToEpoch", 1, 1, _to_epoch),
)
