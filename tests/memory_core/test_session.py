"""Sessions: what was disclosed, what it cost, how much more may be."""

from __future__ import annotations

import pytest

from memory_core.disclosure import Disclosure, Loaded, Step
from memory_core.errors import BadInput
from memory_core.ids import PageId
from memory_core.layouts import Priority
from memory_core.session import Ceilings, Session
from tests.memory_core.loading_parts import BUILD


def _part(page: str, priority: Priority | None, step: Step = Step.PAGE, sha256: str = "1") -> Loaded:
    return Loaded(PageId(page), step, "text", 10, "why", priority, sha256=sha256, shown=("a x",), rest=("b y",))


def _disclosure(*parts: Loaded) -> Disclosure:
    return Disclosure(BUILD, "#build", tuple(parts))


def test_a_session_adds_up_what_was_disclosed() -> None:
    session = Session()
    assert not session.started
    session = session.with_(_disclosure(_part("index", None, Step.INDEX), _part("project", Priority.P1)))
    session = session.with_(_disclosure(_part("experience", Priority.P2, Step.SEARCH)))
    assert session.started
    assert session.spent_tokens == 30
    assert session.loaded == ("index", "project", "experience")
    assert session.opened == {"project": Priority.P1}
    assert session.known_marks(PageId("project")) == {"a x", "b y"}
    assert (PageId("project"), "a x") in session.shown
    assert (PageId("project"), "b y") not in session.shown


def test_what_is_not_indexed_starts_no_session() -> None:
    assert not Session().with_(Disclosure(BUILD, "#build", indexed=False)).started


def test_the_ceilings_are_two_pages_one_of_p3_and_one_convention() -> None:
    session = Session().with_(_disclosure(_part("attention", Priority.P0), _part("project", Priority.P1)))
    assert "2 of 2 pages of P0 to P2" in session.over_ceiling(PageId("experience"), Priority.P2)
    assert session.over_ceiling(PageId("project"), Priority.P1) == ""
    assert session.over_ceiling(PageId("people"), Priority.P3) == ""
    assert session.over_ceiling(PageId("conventions/api"), None) == ""
    more = [_part("people", Priority.P3), _part("conventions/api", None, Step.CONVENTION)]
    assert "pages of P3" in session.over_ceiling(PageId("projects/x"), Priority.P3, more)
    assert "conventions" in session.over_ceiling(PageId("conventions/x"), None, more)


def test_a_page_that_the_bot_wrote_holds_nothing_new() -> None:
    session = Session().with_(_disclosure(_part("project", Priority.P1, sha256="old")))
    assert session.known_sha256(PageId("project")) == {"old"}
    session = session.wrote(PageId("project"), "mid").wrote(PageId("project"), "new")
    assert session.known_sha256(PageId("project")) == {"old", "new"}


def test_a_ceiling_names_itself() -> None:
    with pytest.raises(BadInput, match="p3_pages is -1"):
        Ceilings(p3_pages=-1)
