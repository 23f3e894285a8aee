"""What an agent wishes to be kept: only what a person here said, with the messages that state it."""

from __future__ import annotations

from datetime import date

import pytest

from bot.wishes import TEXT_CHARACTERS, wish
from memory_core.candidates import Value
from memory_core.errors import BadInput
from memory_core.layouts import Kind
from memory_core.messages import Voice
from memory_core.redact.mask import mask
from tests.bot.models.asking import ANA, BEN, US, Talk

KEPT = [
    ("decision", "We use Postgres 16 for billing", "ok, from now on we use Postgres 16 for billing!"),
    ("stack", "billing runs on Postgres 16", "billing runs on Postgres 16. and why did we take Redis?"),
    ("decision", "Billing uses Postgres 16", "Billing will use Postgres 16 from now on."),
    ("decision", "We use Postgres for billing", "Can you remember that we use Postgres for billing?"),
    ("role", "Ben owns the deploy pipeline", "Ben owns the deploy pipeline"),
    ("lesson", "Do not restart the runner during a build", "never restart the runner during a build!"),
    ("agreement", "我们用 Postgres 做计费", "以后我们用 Postgres 做计费。"),
    ("agreement", "我们用 Postgres 做计费", "我们用 Postgres 做计费!为什么?"),
    ("agreement", "課金は Postgres です", "課金は Postgres です!なぜですか?"),
    ("stack", "We use Postgres for billing", "why?we use Postgres for billing!ok?"),
    ("stack", "We use Postgres for billing", "We use Postgres for billing;why not Redis?"),
    ("environment", "Der Server steht in Frankfurt", "Übrigens: der Server steht in Frankfurt."),
]
REFUSED = [
    ("We use Postgres 17 for billing", "we use Postgres 16 for billing"),
    ("We do not use Postgres for billing", "we use Postgres for billing"),
    ("We use Postgres for billing", "we do not use Postgres for billing"),
    ("We use Postgres for billing", "shall we use Postgres for billing?"),
    ("We use Postgres for billing", "hi. do we use Postgres for billing?"),
    ("Ana pays Ben 4000 dollars a month", "hello there"),
    ("The vault code is 4711", "what is the vault code?"),
    ("", "we use Postgres"),
    ("!!! ???", "we use Postgres"),
    ("we " * TEXT_CHARACTERS, "we use Postgres"),
]


@pytest.mark.parametrize(("kind", "text", "said"), KEPT)
def test_what_the_asking_person_said_is_kept_with_that_message(kind: str, text: str, said: str) -> None:
    talk = Talk()
    message = talk.said(said)
    found = wish(kind.upper(), text, talk.ask())
    assert (found.kind, found.sources, found.author) == (Kind(kind), (message.key,), ANA)
    assert found.value is Value.MEDIUM
    assert found.settled
    assert ":" not in found.body + found.title


@pytest.mark.parametrize(("text", "said"), REFUSED)
def test_what_nobody_said_so_is_refused(text: str, said: str) -> None:
    talk = Talk()
    talk.said("we like tea", BEN)
    talk.said(said)
    with pytest.raises(BadInput):
        wish("decision", text, talk.ask())


def test_an_unknown_kind_is_refused_with_those_that_exist() -> None:
    talk = Talk()
    talk.said("we use Postgres")
    with pytest.raises(BadInput, match="decision, lesson, task"):
        wish("hard_rule", "we use Postgres", talk.ask())


def test_else_the_messages_of_others_here_are_cited_first_the_one_that_states_most() -> None:
    talk = Talk()
    early = talk.said("the invoices go out on the 3rd", BEN)
    late = talk.said("and the reminders go out on the 17th by mail", BEN)
    talk.said("what did Ben say?")
    found = wish("agreement", "invoices go out on the 3rd, reminders go out on the 17th by mail", talk.ask())
    assert found.sources == (late.key, early.key)
    assert found.author == BEN


def test_neither_we_nor_an_app_is_a_source() -> None:
    talk = Talk()
    asked = talk.said("what database?")
    talk.answered(asked, "We use Postgres for billing.")
    talk.said("Billing uses Postgres now.", US, name="CI", voice=Voice.BOT)
    talk.said("thanks")
    with pytest.raises(BadInput, match="Nobody here said that"):
        wish("stack", "We use Postgres for billing", talk.ask())


def test_rules_read_what_a_text_says_and_a_secret_is_masked() -> None:
    talk = Talk()
    talk.said("Ben will renew the certificate by 2026-12-04, password=hunter2hunter2")
    found = wish("task", "Ben will renew the certificate by 2026-12-04", talk.ask())
    assert found.due == date(2026, 12, 4)
    assert found.body == "Ben will renew the certificate by 2026-12-04"
    kept = wish("environment", "The certificate's password=hunter2hunter2, renew it by 2026-12-04", talk.ask())
    assert "hunter2" not in kept.body
    assert mask(kept.body).kinds == ()
