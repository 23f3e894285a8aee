"""Imports go down only; heavy libraries are loaded only where they are used; nobody goes round the gate."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODELS = ("pydantic_ai", "openai", "anthropic", "genai_prices", "httpx2")
HEAVY = ("discord", "slack_bolt", "slack_sdk", "aiohttp", *MODELS)


def test_the_contracts_of_the_floors_hold() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "importlinter.cli"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    ran = ran if ran.stdout else _lint()
    assert ran.returncode == 0, ran.stdout


def _lint() -> subprocess.CompletedProcess[str]:
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)


def _loaded_by(arguments: list[str], tmp_path: Path, lines: str = "", **settings: str) -> set[str]:
    """The modules that a command line leaves loaded."""
    program = (
        "import sys\n"
        f"sys.argv = ['remem', *{arguments!r}]\n"
        "from bot.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print('\\nLOADED ' + ' '.join(sorted(sys.modules)))\n"
    )
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT),
        "REMEM_WORKSPACE": str(tmp_path / "w"),
        **settings,
    }
    ran = subprocess.run(
        [sys.executable, "-c", program],
        input=lines,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(ran.stdout.rpartition("LOADED ")[2].split())


def test_help_loads_no_platform(tmp_path: Path) -> None:
    loaded = _loaded_by(["--help"], tmp_path)
    assert "typer" in loaded
    assert not loaded.intersection(HEAVY)
    assert "tiktoken" not in loaded


def test_chat_loads_no_platform(tmp_path: Path) -> None:
    loaded = _loaded_by(["chat"], tmp_path, lines="hello\n/remem status\n/quit\n")
    assert "adapters.console.adapter" in loaded
    assert not loaded.intersection(HEAVY)


@pytest.mark.parametrize(
    "command",
    [["init"], ["status"], ["show-context", "what did we decide?"], ["audit"], ["doctor"]],
    ids=lambda one: one[0],
)
def test_a_command_that_asks_no_model_loads_none(tmp_path: Path, command: list[str]) -> None:
    """Also where one is set; only doctor asks it then, so it is run without."""
    settings = {} if command == ["doctor"] else {"REMEM_MODEL": "openai:gpt-5", "REMEM_MODEL_KEY": "sk-of-nobody"}
    (tmp_path / "w").mkdir()
    assert not _loaded_by(command, tmp_path, **settings).intersection(MODELS)


def test_what_a_group_would_load_is_shown_without_what_belongs_to_platforms_and_the_bot(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    loaded = _loaded_by(["show-context", "what did we decide?", "--room", "build"], tmp_path)
    assert "memory_core.gate" in loaded
    assert not {name for name in loaded if name.startswith("adapters.") or name == "bot.app"}


def test_chat_loads_the_models_where_one_is_set(tmp_path: Path) -> None:
    settings = {"REMEM_MODEL": "openai:any", "REMEM_MODEL_BASE_URL": "http://127.0.0.1:9/v1"}
    loaded = _loaded_by(["chat"], tmp_path, lines="/quit\n", **settings)
    assert {"pydantic_ai", "openai"} <= loaded
    assert "anthropic" not in loaded


def _imports(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


CONCRETE = {
    "memory_core.store.files",
    "memory_core.store.memory",
    "memory_core.ledger.sqlite",
    "memory_core.ledger.memory",
    "memory_core.names_file",
}


@pytest.mark.parametrize("file", sorted((ROOT / "bot").rglob("*.py")), ids=lambda file: file.name)
def test_only_app_and_reading_name_concrete_stores(file: Path) -> None:
    if file.name not in {"app.py", "reading.py"}:
        assert not _imports(file) & CONCRETE


def test_bot_and_adapters_reach_memory_through_the_gate_only() -> None:
    for file in [*(ROOT / "bot").rglob("*.py"), *(ROOT / "adapters").rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Attribute):
                where = f"{file.relative_to(ROOT)}:{node.lineno}"
                assert node.attr not in {"store", "commit"}, f"{where} touches a store"


def test_models_libraries_are_imported_in_their_folder_only() -> None:
    for file in [*(ROOT / "bot").rglob("*.py"), *(ROOT / "adapters").rglob("*.py")]:
        if file.parent != ROOT / "bot" / "models":
            assert not {name.split(".")[0] for name in _imports(file)} & set(MODELS), file


@pytest.mark.parametrize(
    ("library", "folder"), [("discord", "discord"), ("slack_bolt", "slack"), ("slack_sdk", "slack")]
)
def test_a_platform_library_is_imported_in_its_adapter_only(library: str, folder: str) -> None:
    for file in [*(ROOT / "bot").rglob("*.py"), *(ROOT / "adapters").rglob("*.py")]:
        if file.parent != ROOT / "adapters" / folder:
            assert not {name for name in _imports(file) if name.split(".")[0] == library}, file


def test_files_keep_their_size() -> None:
    for folder, limit in (("memory_core", 350), ("adapters", 200), ("bot", 500), ("tests", 500)):
        for file in (ROOT / folder).rglob("*.py"):
            lines = len(file.read_text("utf-8").splitlines())
            assert lines <= limit, f"{file.relative_to(ROOT)} has {lines} lines, the limit is {limit}"


def test_chance_is_drawn_in_few_places() -> None:
    """Ids are passed in: memory_core draws them from the disk alone, and the key of a workspace is no id."""
    found = {
        str(file.relative_to(ROOT))
        for floor in ("memory_core", "adapters", "bot")
        for file in (ROOT / floor).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([one.name for one in node.names] if isinstance(node, ast.Import) else [node.module or ""])
        if name in {"secrets", "uuid", "random"}
    }
    assert found == {
        "memory_core/store/disk.py",
        "memory_core/workspace.py",
        "bot/app.py",  # ids of the console's messages, the wiring's default
        "bot/models/speaker.py",  # how long a busy model is waited for
    }
