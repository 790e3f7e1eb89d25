"""Times and rates as people write them."""

from __future__ import annotations

MINUTE, HOUR, DAY = 60, 3600, 86400


def duration(seconds: float) -> str:
    """`"12 µs"`, `"3.5 ms"`, `"3.5 s"`, `"2 min 05 s"`, `"1 h 05 min"`, `"2 d 3 h"`: the digits that matter."""
    for unit, size in (("µs", 1e-6), ("ms", 1e-3)):
        if seconds < 999.5 * size:
            return f"{_digits(seconds / size)} {unit}"
    if seconds < 59.5:
        return f"{_digits(seconds)} s"
    whole = int(seconds + 0.5)
    if whole < HOUR:
        return f"{whole // MINUTE} min {whole % MINUTE:02} s"
    if whole < DAY:
        minutes = (whole + MINUTE // 2) // MINUTE
        return f"{minutes // 60} h {minutes % 60:02} min"
    hours = (whole + HOUR // 2) // HOUR
    return f"{hours // 24} d {hours % 24} h"


def about(seconds: float) -> str:
    """The same for what is only estimated, `"about 40 s"`: no more digits than can be meant."""
    if seconds < 10:
        return "a few seconds"
    if seconds < 55:
        return f"about {_rounded(seconds, 10)} s"
    if seconds < 10 * MINUTE:
        whole = _rounded(seconds, 10)
        rest = f" {whole % MINUTE:02} s" if whole % MINUTE and whole < 5 * MINUTE else ""
        return f"about {whole // MINUTE} min{rest}"
    if seconds < HOUR:
        return f"about {_rounded(seconds / MINUTE, 1)} min"
    minutes = _rounded(seconds / MINUTE, 5)
    if seconds < DAY:
        return f"about {minutes // 60} h" + (f" {minutes % 60:02} min" if minutes % 60 else "")
    return f"about {duration(seconds)}"


def rate(each_second: float) -> str:
    """`"1,200 a second"`, `"12 a minute"`, `"one every 40 s"`."""
    if each_second >= 2:
        return f"{each_second:,.0f} a second"
    if each_second * MINUTE >= 2:
        return f"{each_second * MINUTE:.0f} a minute"
    return f"one every {duration(1 / each_second)}" if each_second > 0 else "none yet"


def _digits(number: float) -> str:
    """One decimal below ten, none above."""
    return f"{number:.1f}" if number < 9.95 else f"{number:.0f}"


def _rounded(number: float, to: int) -> int:
    return max(to, to * int(number / to + 0.5))
