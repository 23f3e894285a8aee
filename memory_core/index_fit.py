"""Fitting an index into a budget: what is derived goes first, what steers the bot goes last.

Order of leaving: the catalogue; sections that we do not know, the last one first; deprecated rows; live routing rows,
P3 before P0, the last one first; hard rules, the last one first; then the rest. Nothing leaves silently: what left
is named in the result, and at the end of the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_core.index_edit import DEAD
from memory_core.index_lines import Line, Part, cells, columns, is_alignment, newline_of, outline
from memory_core.text import counted, one_line
from memory_core.tokens import Counter, cut

_NAMED = 6


def within(text: str, limit_tokens: int, counter: Counter) -> tuple[str, tuple[str, ...]]:
    """The index text that fits into `limit_tokens`, and the names of what was left out (none if all fits)."""
    if counter.count(text) <= limit_tokens:
        return text, ()
    lines = outline(text)
    groups = list(_groups(lines))
    kept, fits = len(groups), _without(text, lines, groups)
    if counter.count(fits) > limit_tokens:
        return cut(fits, limit_tokens, counter), (*(name for name, _ in groups), "part of the head")
    low = 0
    while kept - low > 1:
        middle = (low + kept) // 2
        shorter = _without(text, lines, groups[:middle])
        if counter.count(shorter) <= limit_tokens:
            kept, fits = middle, shorter
        else:
            low = middle
    return fits, tuple(name for name, _ in groups[:kept])


def first_of(names: Sequence[str]) -> tuple[str, ...]:
    """The first few names, and how many more there are: an index may have thousands of lines too many."""
    more = (f"and {len(names) - _NAMED} more",) if len(names) > _NAMED else ()
    return (*names[:_NAMED], *more)


def _without(text: str, lines: Sequence[Line], groups: Sequence[tuple[str, frozenset[int]]]) -> str:
    """The text without those groups of lines, and with a line that names them."""
    gone = {at for _, group in groups for at in group}
    rest = "".join(line.whole for at, line in enumerate(lines) if at not in gone).rstrip("\r\n")
    named = "; ".join(first_of([name for name, _ in groups]))
    newline = newline_of(text)
    note = f"> Left out, because the index is over its budget: {named}."
    return f"{rest}{newline}{newline}{note}{newline}"


def _groups(lines: Sequence[Line]) -> Iterator[tuple[str, frozenset[int]]]:
    """What can be left out, in the order of leaving: its name and its lines."""
    if derived := frozenset(at for at, line in enumerate(lines) if line.part is Part.CATALOGUE):
        yield "catalogue", derived
    yield from reversed(list(_sections(lines)))
    rows = list(_rows(lines))
    dead = frozenset(at for at, _, is_dead in rows if is_dead)
    if dead:
        yield counted(len(dead), "deprecated routing row"), dead
    for at, row, is_dead in sorted(rows, key=lambda row: (_priority(row[1]), row[0]), reverse=True):
        if not is_dead:
            yield f'routing row "{one_line(" | ".join(row), 60)}"', frozenset({at})
    rules = [at for at, line in enumerate(lines) if line.part is Part.RULES and line.live and line.text.strip()]
    for at in reversed(rules):
        yield f'hard rule "{one_line(lines[at].text, 60)}"', frozenset({at})


def _sections(lines: Sequence[Line]) -> Iterator[tuple[str, frozenset[int]]]:
    """Sections that are neither rules nor routes, each from its heading on; the text under the title is one too."""
    name, group = "", set[int]()
    for at, line in enumerate(lines):
        other = line.part is Part.OTHER
        if (line.heading or not other) and group:
            yield name, frozenset(group)
            name, group = "", set()
        if not other or (line.heading == 1 and not name):
            continue
        if line.heading:
            name = f'section "{one_line(line.text.strip("# "), 60)}"'
        if line.heading or name or line.text.strip():
            name = name or f'text "{one_line(line.text, 40)}"'
            group.add(at)
    if group:
        yield name, frozenset(group)


def _rows(lines: Sequence[Line]) -> Iterator[tuple[int, list[str], bool]]:
    """The routing rows: line number, cells, deprecated or not."""
    for at, line in enumerate(lines):
        row = cells(line.text) or [line.text.strip()]
        if line.part is Part.ROUTES and line.live and not columns(row) and not is_alignment(row) and any(row):
            yield at, row, bool(DEAD.search(line.text))


def _priority(row: Sequence[str]) -> int:
    """The row's P number; 4 if it names none."""
    return next((int(cell[1]) for cell in row if len(cell) == 2 and cell[0] in "Pp" and cell[1] in "0123"), 4)
