"""The error tree: what is drawn on top of errors.py is what there is, and there is no other."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator

import memory_core
from memory_core import errors
from memory_core.errors import RememError


def _below(kind: type[RememError]) -> Iterator[type[RememError]]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)


def test_the_drawn_tree_is_the_tree() -> None:
    drawn: dict[int, str] = {}
    edges: set[tuple[str, str]] = set()
    for line in (errors.__doc__ or "").splitlines():
        if found := re.match(r"    ([│ ├└─]*)(\w+)", line):
            depth = len(found[1]) // 4
            drawn[depth] = found[2]
            edges |= {(drawn[depth - 1], found[2])} if depth else set()
    assert edges == {(kind.__bases__[0].__name__, kind.__name__) for kind in _below(RememError)}


def test_every_error_of_ours_stands_in_the_tree() -> None:
    for module in pkgutil.walk_packages(memory_core.__path__, "memory_core."):
        importlib.import_module(module.name)
    assert {kind.__module__ for kind in _below(RememError)} == {errors.__name__}
