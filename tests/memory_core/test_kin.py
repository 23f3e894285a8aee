"""Words of one field."""

from __future__ import annotations

from memory_core import kin as table
from memory_core.kin import kin
from memory_core.script import is_paired
from memory_core.terms import terms


def _kin(text: str) -> set[str]:
    return set(kin(terms(text)))


def test_a_kind_and_what_is_one_are_kin_both_ways() -> None:
    assert set(terms("guitar violin")) <= _kin("which instruments?")
    assert set(terms("instrument")) <= _kin("her guitar")
    assert set(terms("career profession")) <= _kin("what is her job?")


def test_members_of_a_kind_are_no_kin_of_each_other() -> None:
    assert not set(terms("guitar")) & _kin("violin")


def test_what_is_asked_for_is_no_kin() -> None:
    assert not set(terms("job career")) & set(kin(terms("job or career")))
    assert kin(terms("zzz")) == ()
    assert kin(()) == ()


def test_other_languages_lead_to_the_same_field() -> None:
    assert set(terms("job")) <= _kin("工作")
    assert set(terms("工作")) <= _kin("her job")


def test_the_table_holds_single_words_only() -> None:
    """A word that is none or several terms would be left out without a word."""
    words = table._FIELDS.replace("|", " ").split()
    assert [word for word in words if len(terms(word)) != 1] == []


def test_every_word_of_another_script_in_the_table_is_the_term_that_it_is_taken_for() -> None:
    words = [word for word in table._FIELDS.replace("|", " ").split() if is_paired(word)]
    assert len(words) > 50
    assert {word: table._terms(word) for word in words} == {word: terms(word) for word in words}
