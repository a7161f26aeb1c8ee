"""Checks the keyword arguments of functions by their annotations: names, types, choices and limits."""
import difflib
import functools
import inspect
import numbers
import os
import types
import typing
from typing import Annotated, Any, Callable, Literal, Sequence, TypeVar, Union

from ._errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])
Path = Union[str, os.PathLike[str]]
Share = Annotated[float, 0, 1]
Distance = Annotated[int, 0, 8]
Count = Annotated[int, 0, 2**63]
Size = Union[str, int]  # bytes, or a text such as "4GiB"
Format = Literal["auto", "text", "html", "jsonl", "json", "lines", "csv", "parquet", "warc"]
Part = Literal["main", "all", "auto"]
T = TypeVar("T")
OneOrMany = Union[T, Sequence[T]]

WORDS = {bool: "True or False", int: "a whole number", float: "a number", str: "a text", os.PathLike: "a path"}
KINDS = {bool: bool, int: numbers.Integral, float: numbers.Real, str: str, os.PathLike: os.PathLike}


def checked(function: F) -> F:
    """Decorates a function: its keyword arguments are checked before it is called."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        check(function, options)
        return function(*args, **options)

    return typing.cast(F, call)


def check(function: Callable[..., Any], options: dict[str, Any]) -> None:
    """Raises UsageError for an argument that the function does not have, or with a value that it does not take."""
    hints = _hints(function)
    for name, value in options.items():
        if name not in hints:
            known = sorted(hints)
            raise UsageError(f"{function.__qualname__.removesuffix('.__init__')} has no argument {name!r}; " + (_nearest(name, known) or f"it has {', '.join(known)}"))
        if value is not None and not _accepts(hints[name], value):
            raise UsageError(f"{name} must be {_words(hints[name])}, not {value!r}" + ("; " + _nearest(value, _choices(hints[name]))).rstrip("; "))


def given(function: Callable[..., Any], values: dict[str, Any]) -> dict[str, Any]:
    """Returns the flags among the values of arguments: those that are not their defaults."""
    rest = ("text", "id", "progress")
    parameters = inspect.signature(function).parameters.values()
    keywords = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in rest]
    return {p.name: values[p.name] for p in keywords if values[p.name] != p.default}


@functools.lru_cache(None)
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(function, include_extras=True)
    return {name: hint for name, hint in hints.items() if name != "return"}


def _options(hint: Any) -> list[Any]:
    """Returns the types that a hint allows."""
    if typing.get_origin(hint) in (Union, types.UnionType):
        return [option for part in typing.get_args(hint) for option in _options(part)]
    return [] if hint is type(None) else [hint]


def _accepts(hint: Any, value: Any) -> bool:
    for option in _options(hint):
        origin, args = typing.get_origin(option), typing.get_args(option)
        if origin is Literal:
            fits = any(value == a and type(value) is type(a) for a in args)
        elif origin is Annotated:
            fits = _accepts(args[0], value) and args[1] <= value <= args[2]
        elif option in KINDS or origin in KINDS:
            kind = KINDS[origin or option]
            fits = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        elif origin and isinstance(origin, type) and issubclass(origin, typing.cast(Any, Sequence).__origin__):
            fits = isinstance(value, (list, tuple)) and all(_accepts(args[0], v) for v in value)
        else:
            fits = True
        if fits:
            return True
    return False


def _choices(hint: Any) -> list[str]:
    return [a for option in _options(hint) if typing.get_origin(option) is Literal for a in typing.get_args(option)]


def _words(hint: Any) -> str:
    """Returns what a hint allows, in words."""
    words: list[str] = []
    for option in _options(hint):
        origin, args = typing.get_origin(option), typing.get_args(option)
        if origin is Literal:
            words += map(repr, args)
        elif origin is Annotated:
            words.append(f"between {args[1]} and {args[2]}" if args[2] < 2**63 else f"a whole number, at least {args[1]}")
        elif option in WORDS or origin in WORDS:
            words.append(WORDS[origin or option])
        else:
            words.append("a list")
    words = list(dict.fromkeys(words))
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _nearest(name: Any, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, 1) if isinstance(name, str) else []
    return f"did you mean {near[0]!r}?" if near else ""
