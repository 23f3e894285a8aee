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
    ours = [kind for kind in _below(RememError) if kind.__module__ == errors.__name__]
    assert edges == {(kind.__bases__[0].__name__, kind.__name__) for kind in ours}


def test_every_error_of_ours_stands_in_the_tree() -> None:
    for module in pkgutil.walk_packages(memory_core.__path__, "memory_core."):
        importlib.import_module(module.name)
    importlib.import_module(
        "bot.models.failures"
    )  # the one that memory_core may not know: it is named under the tree
    modules = {kind.__module__ for kind in _below(RememError)}
    assert modules == {errors.__name__, "bot.models.failures"}
    assert all(name in (errors.__doc__ or "") for name in ("bot.models.failures", "ModelFailed"))
