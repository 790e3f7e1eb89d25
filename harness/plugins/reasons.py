"""Why something of a plugin author's could not be used, in one line."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path


def reason_of(error: BaseException) -> str:
    """The last line of a traceback, with the place nearest to the plugin author."""
    if isinstance(error, SyntaxError):
        return f"syntax error in {Path(error.filename or '?').name}, line {error.lineno}: {error.msg}"
    frames: Sequence[traceback.FrameSummary] = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    try:
        text = str(error)
    except BaseException:  # what somebody raises may have a text that raises, too
        text = "it cannot be told what"
    return f"{type(error).__name__}: {text}{place}"
