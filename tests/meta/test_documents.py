"""What a reviewer would keep asking for: documents that equal the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.settings import Settings, example, variable
from memory_core.commands import FORMS

ROOT = Path(__file__).parents[2]


def _read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def test_env_example_equals_the_settings() -> None:
    assert _read(".env.example") == example()


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_documented(name: str) -> None:
    assert f"`{variable(name)}`" in _read("docs/reference/settings.md")


@pytest.mark.parametrize("form", [form for form in FORMS if form.word], ids=lambda form: form.word)
def test_every_command_is_documented(form: object) -> None:
    word = getattr(form, "word", "")
    assert f"/remem {word}" in _read("docs/reference/commands.md")
    assert f"`{word}`" in _read("README.md")


def test_the_readme_opens_with_two_commands_of_one_line_each() -> None:
    commands = re.findall(r"^    (python3 -m venv .+)$", _read("README.md"), re.MULTILINE)
    assert len(commands) == 2
    assert commands[0].endswith("remem chat")
    assert "pytest" in commands[1]


def test_links_of_the_documents_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_dependency_has_its_line() -> None:
    stated = _read("docs/explanation/dependencies.md")
    listed = re.search(r"^dependencies = \[(.*?)^\]", _read("pyproject.toml"), re.DOTALL | re.MULTILINE)
    assert listed is not None
    for name in re.findall(r'"([A-Za-z0-9.-]+)[>=]', listed[1]):
        assert name in stated


def test_nothing_of_a_machine_stands_in_the_repository() -> None:
    suspicious = re.compile(r"/(work|farm|root)/|uv\.lock\b.*http")
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bot").rglob("*.py")]:
        assert not suspicious.search(page.read_text("utf-8")), page
