"""Reads the options of games, bots and formats: defaults, types, allowed values, files by digest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from math import isfinite
from pathlib import Path

from harness.core.errors import BadOption, PluginError, UnknownName, UsageError
from harness.core.plain_files import UnfitFile, read_plain
from harness.core.types import Option, Value

DIGEST = "sha256:"
NO_FILES: Mapping[str, str] = {}
LARGEST_FILE = 1_000_000
"""Bytes of a file that an option names: its content is kept with the run, and sent to processes with each match."""


def digest_of(content: str) -> str:
    """The name under which a file's content is recorded."""
    return DIGEST + sha256(content.encode()).hexdigest()[:16]


def resolve(
    owner: str, declared: Iterable[Option], given: Mapping[str, object], kept: Mapping[str, str] | None = None
) -> tuple[dict[str, Value], dict[str, str]]:
    """All declared options with their values, and the contents of files among them by digest.

    `kept` has the contents of files that are given by their digest, as records give them. Without it they are given by
    their paths, which somebody has typed.
    """
    by_name = {option.name: option for option in declared}
    for name in given:
        if name not in by_name:
            raise UnknownName(f"option of {owner}", name, by_name)
    settings: dict[str, Value] = {}
    files: dict[str, str] = {}
    for name, option in by_name.items():
        value = _read(owner, option, given.get(name, option.default))
        if option.kind == "file" and value:
            value = _file(owner, option, str(value), kept if name in given else None, files)
        settings[name] = value
    return settings, files


def _read(owner: str, option: Option, raw: object) -> Value:
    value = _typed(owner, option, raw)
    if option.choices and value not in option.choices:
        if isinstance(value, str):
            raise UnknownName(f"value of {owner}'s option {option.name}", value, map(str, option.choices))
        raise _refused(owner, option, raw)
    if not isinstance(value, str):
        low, high = option.minimum, option.maximum
        if (low is not None and value < low) or (high is not None and value > high):
            raise _refused(owner, option, raw)
    return value


def check_defaults(owner: str, options: Iterable[Option]) -> None:
    """Refuses options whose defaults their own kinds, choices or limits do not allow. Files are not looked at."""
    for option in options:
        try:
            _read(owner, option, option.default)
        except UsageError:
            raise PluginError(
                f"{owner}: option {option.name} does not allow its own default {option.default!r}: it takes "
                f"{allowed(option)}."
            ) from None


def _typed(owner: str, option: Option, raw: object) -> Value:
    if option.kind in _NUMBERS:
        try:
            number: int | float = _NUMBERS[option.kind](str(raw))
        except ValueError:
            raise _refused(owner, option, raw) from None
        if not isfinite(number):
            raise _refused(owner, option, raw)
        return number
    if option.kind == "bool":
        word = str(raw).lower()
        if word not in _WORDS:
            raise _refused(owner, option, raw)
        return _WORDS[word]
    return str(raw)


_NUMBERS: Mapping[str, type[int] | type[float]] = {"int": int, "float": float}
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def allowed(option: Option) -> str:
    """What an option allows, for help texts and errors."""
    if option.choices:
        return " | ".join(map(str, option.choices))
    if option.kind == "bool":
        return "true | false"
    if option.kind in ("file", "bot"):
        return f"a {option.kind}"
    if option.kind in _NUMBERS:
        kind = "a whole number" if option.kind == "int" else "a number"
        low, high = option.minimum, option.maximum
        if low is not None and high is not None:
            return f"{kind} from {low} to {high}"
        if low is not None:
            return f"{kind} of at least {low}"
        return kind if high is None else f"{kind} of at most {high}"
    return "any text"


def _refused(owner: str, option: Option, raw: object) -> BadOption:
    return BadOption(f"{owner}'s option {option.name} cannot be {str(raw)!r}: it takes {allowed(option)}.")


def _file(owner: str, option: Option, value: str, kept: Mapping[str, str] | None, files: dict[str, str]) -> str:
    if value.startswith(DIGEST) or kept is not None:  # a run may be a stranger's, who would like to have a file read
        if kept is None or value not in kept:
            raise BadOption(f"{owner}'s option {option.name}: no content is kept for {value}.")
        if value != digest_of(kept[value]):
            raise BadOption(f"The content kept for {value} does not fit its digest: it was changed.")
        files[value] = kept[value]
        return value
    try:
        content = read_plain(Path(value), LARGEST_FILE).decode()
    except (UnfitFile, UnicodeDecodeError) as error:
        why = error if isinstance(error, UnfitFile) else f"it is no text in UTF-8 ({error})"
        raise BadOption(f"{owner}'s option {option.name}: cannot read {value}: {why}.") from error
    digest = digest_of(content)
    files[digest] = content
    return digest
