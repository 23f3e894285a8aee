"""The words of /remem: forms, unknown words, commands written as text, the kind in front of a note."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.answers import unknown_text
from memory_core.commands import FORMS, Call, Unknown, nearest, note_kind, parse, text_command
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


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("frget", "forget"), ("forgt", "forget"), ("stauts", "status"), ("corect", "correct"), ("hlp", "help")],
)
def test_the_nearest_word_is_the_one_that_was_slipped_on(typed: str, meant: str) -> None:
    assert nearest(typed, ["correct", "forget", "help", "purpose", "status", "note"]) == meant


def test_a_word_that_is_not_there_yet_is_not_taken_for_another_one() -> None:
    said = parse("frget tabs")
    assert isinstance(said, Unknown)
    assert said.nearest in ("", "forget")
    assert parse("exprt") in (Unknown("exprt"), Unknown("exprt", "export"))


@pytest.mark.parametrize("words", ["note a decision:\nRedis\n\nfor sessions", "note\ta\nb", "NOTE\n a b"])
def test_a_commands_words_may_stand_in_several_lines(words: str) -> None:
    call = parse(words)
    assert isinstance(call, Call)
    assert call.form.word == "note"
    assert call.argument == words[4:].strip()


@pytest.mark.parametrize("blank", ["", "   ", "\n\t", "\u200b", " \u2060 \ufeff"])
def test_an_argument_that_nobody_can_see_is_none(blank: str) -> None:
    assert parse(f"purpose {blank}") == parse("purpose")


@given(st.text(max_size=200))
def test_any_words_are_a_call_or_unknown(words: str) -> None:
    said = parse(words)
    if isinstance(said, Unknown):
        assert 0 < len(said.word) <= 40
        assert not any(character.isspace() for character in said.word)
        assert said.nearest == "" or parse(said.nearest) != said
        assert len(unknown_text(said)) < 1500
    else:
        assert said.argument == said.argument.strip()
        assert said.argument in words
    assert note_kind(words)[1] in words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("!remem", ""),
        ("  !remem  ", ""),
        ("!Remem STATUS", "STATUS"),
        ("！remem 状态", "状态"),
        ("!remem note a\nb", "note a\nb"),
        ("!/remem why", "why"),
    ],
)
def test_case_27_a_command_in_words_works_where_slash_commands_do_not(text: str, words: str) -> None:
    assert text_command(text, addressed=False) == words


@pytest.mark.parametrize(
    "talk",
    [
        "!remembrance day is Monday",
        "!remem-bot is down",
        "!rememb",
        "remem",
        "remem status",
        "/remem status",
        "we use !remem here",
        "!other remem",
        "!",
        "",
    ],
)
def test_case_27_a_sentence_is_ordinary_text(talk: str) -> None:
    assert text_command(talk, addressed=False) is None


def test_a_command_in_words_needs_the_bot_or_an_exclamation_mark() -> None:
    assert text_command("!remem note x", addressed=False) == "note x"
    assert text_command("remem", addressed=True) == ""
    assert text_command("remem note x", addressed=False) is None
    assert text_command("!remembrance day is Monday", addressed=False) is None
    assert text_command("remember that", addressed=True) is None
