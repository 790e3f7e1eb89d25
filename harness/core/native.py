"""What a class needs that may be compiled while others subclass it in plain Python: always interpreted itself."""

from __future__ import annotations

from inspect import isfunction
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr as mypyc_attr
else:

    def mypyc_attr(**_attributes):
        """The class as it is: this tells the compiler something, and means nothing where nothing is compiled."""
        return lambda cls: cls


T = TypeVar("T")


def attribute_names(thing: object) -> list[str]:
    """The attributes that an object has, whether its classes keep them in slots, in a `__dict__` or compiled."""
    kept = {name for cls in type(thing).__mro__ for name in _kept_by(cls)} | set(getattr(thing, "__dict__", ()))
    return [name for name in sorted(kept) if hasattr(thing, name)]


def _kept_by(cls: type) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__") or cls.__dict__.get("__mypyc_attrs__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    private = f"_{cls.__name__.lstrip('_')}"  # what Python makes of a name that begins with two underscores
    return tuple(
        private + name if name.startswith("__") and not name.endswith("__") else name
        for name in names
        if name not in ("__dict__", "__weakref__")
    )


def unmade(cls: type[T]) -> T:
    """An object of this class without any attributes yet: for pickles and copies."""
    return cls.__new__(cls)


def parts_of(thing: object) -> Any:
    """What a pickle or a copy of an object must hold: what its class says, or all attributes."""
    if isfunction(type(thing).__getstate__):  # an author's own: those of Python and of the compiler are none
        return thing.__getstate__()
    return {name: getattr(thing, name) for name in attribute_names(thing)}
