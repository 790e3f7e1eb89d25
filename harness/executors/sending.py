"""Objects on their way to another process, by dill: classes that were typed in a notebook as they are, and modules by
their names."""

from __future__ import annotations

import sys
from importlib import import_module
from io import BytesIO
from types import ModuleType
from typing import Any

import dill

from harness.core.errors import UsageError


class _ByName(dill.Pickler):  # type: ignore[misc]  # dill has no types
    """dill would send all that is in a module along, if that is not installed among Python's own."""

    dispatch = dill.Pickler.dispatch.copy()


def _save_module(pickler: Any, module: ModuleType) -> None:
    if sys.modules.get(module.__name__) is module and module.__name__ != "__main__":
        pickler.save_reduce(import_module, (module.__name__,), obj=module)
    else:
        dill.Pickler.dispatch[ModuleType](pickler, module)


_ByName.dispatch[ModuleType] = _save_module


def dumps(what: str, thing: object, to: str, instead: str = "") -> bytes:
    """The object as bytes for `dill.loads`; UsageError if it cannot be sent `to` where it is wanted. `what` it is, and
    what else can be done `instead` of putting it into a file, are for that sentence."""
    file = BytesIO()
    try:
        _ByName(file, recurse=True).dump(thing)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise UsageError(f"{what} cannot be sent to {to} ({why}): {instead}put it into a file.") from error
    return file.getvalue()
