"""The words of /remem: forms, unknown words, commands written as text, the kind in front of a note."""

from __future__ import annotations

import pytest

from memory_core.commands import FORMS, Call, Unknown, note_kind, parse, text_command
from memory_core.layouts import Kind


@pytest.mark.parametrize("kind", Kind)
def test_a_note_may_say_its_kind(kind: Kind) -> None:
    assert note_kind(f"{kind}: Redis for sessions") == (kind, "Redis for sessions")
    assert note_kind(f" {kind.upper()}： two\nlines ") == (kind, "two\nlines")


@pytest.mark.parametrize(
    "text", ["Redis for sessions", "why: because", "decision:", "https://a.example/b", "14:00 call"]
)
def test_a_note_without_a_known_kind_is_all_text(text: str) -> None:
    assert note_kind(text) == (None, text)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.word or "save")
def test_every_form_of_the_table_is_understood(form: object) -> None:
    (known,) = [one for one in FORMS if one is form]
    assert parse(f" {known.word.upper()}  some words ") == Call(known, "some words") or not known.word


def test_an_unknown_word_gets_the_nearest_form() -> None:
    assert parse("serach cache") == Unknown("serach", "search")
    assert parse("xyzzy") == Unknown("xyzzy")


def test_a_command_in_words_needs_the_bot_or_an_exclamation_mark() -> None:
    assert text_command("!remem note x", addressed=False) == "note x"
    assert text_command("remem", addressed=True) == ""
    assert text_command("remem note x", addressed=False) is None
    assert text_command("!remembrance day is Monday", addressed=False) is None
    assert text_command("remember that", addressed=True) is None
