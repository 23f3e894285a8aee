"""A switch takes back what it ended, and nothing else; Japanese verbs oppose their negation."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_core.extract import candidates_in
from memory_core.extract.switching import switch_in
from memory_core.flush.sameness import opposes, repeats, words
from memory_core.flush.switched import ended_by
from memory_core.layouts import Kind
from memory_core.sleep.likeness import contrary
from tests.memory_core.extraction_talk import talk
from tests.scenarios.terminal import terminal

TOLD = [
    ("We switched from Jenkins to GitHub Actions.", "Jenkins", "GitHub Actions"),
    ("we've moved the CI over from Jenkins to GitHub Actions for speed", "Jenkins", "GitHub Actions"),
    ("Last week we migrated from MySQL to Postgres 16.", "MySQL", "Postgres 16"),
    ("Wir sind von Jenkins auf GitLab CI umgestiegen", "Jenkins", "GitLab CI"),
    ("Wir haben die CI von Jenkins auf GitLab umgestellt.", "Jenkins", "GitLab"),
    ("我们从 Jenkins 换成了 GitHub Actions", "Jenkins", "GitHub Actions"),
    ("CI 从Jenkins换成GitLab了", "Jenkins", "GitLab"),
    ("CIをJenkinsからGitLabに切り替えました", "Jenkins", "GitLab"),
    ("JenkinsからGitLabに切り替えた", "Jenkins", "GitLab"),
]
NOT_TOLD = [
    "should we have switched from Jenkins to GitHub Actions?",
    "if we switched from Jenkins to GitHub Actions, builds would be faster",
    "we want to switch from Jenkins to GitHub Actions",
    "we almost switched from Jenkins to GitHub Actions",
    "we switched from Jenkins to GitHub Actions, but went back",
    "我们打算从 Jenkins 换成 GitHub Actions",
    "JenkinsからGitLabに切り替えたら速くなる",
    "vielleicht sollten wir von Jenkins auf GitLab umgestiegen sein",
]


@pytest.mark.parametrize(("text", "old", "new"), TOLD)
def test_a_switch_that_is_told_as_done_is_a_decision(text: str, old: str, new: str) -> None:
    switch = switch_in(text)
    assert switch is not None
    assert (switch.old, switch.new) == (old, new)
    (found,) = candidates_in(talk(f"ana: {text}"))
    assert (found.kind, found.settled) == (Kind.DECISION, True)


@pytest.mark.parametrize("text", NOT_TOLD)
def test_a_plan_a_wish_or_a_switch_undone_is_none(text: str) -> None:
    assert switch_in(text) is None


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        ("decision: we use Jenkins for the builds", "We switched from Jenkins to GitHub Actions.", "GitHub Actions"),
        ("决定：我们用 Jenkins 做构建", "我们从 Jenkins 换成了 GitLab", "GitLab"),
        ("決定: ビルドには Jenkins を使う", "ビルドをJenkinsからGitLabに切り替えました", "GitLab"),
    ],
)
async def test_on_the_page_the_old_decision_is_struck(tmp_path: Path, before: str, after: str, new: str) -> None:
    async with terminal(tmp_path) as screen:
        await screen.type(before, "decision: Redis holds the sessions")
        await screen.silence(1801)
        await screen.type(after)
        await screen.silence(1801)
        page = (tmp_path / "memory/main/longterm.md").read_text("utf-8")
        assert "- Supersedes: ~~[2026-04-06]" in page
        live = [line for line in page.splitlines() if line.startswith("## ")]
        assert not any("Jenkins" in line and new not in line for line in live), page
        assert any(new in line for line in live)
        assert any("Redis" in line for line in live)


ENDED = [
    ("We switched from Jenkins to GitHub Actions.", "We decided to use Jenkins for the builds"),
    ("We switched from Jenkins to GitHub Actions.", "Jenkins for CI"),
    ("We switched the CI from Jenkins to GitHub Actions.", "Jenkins as our CI"),
    ("We moved from Jenkins to GitLab", "Jenkins over Travis, because it runs on our own machines"),
    ("Wir sind von Jenkins auf GitLab umgestiegen", "Wir nutzen Jenkins für die Builds"),
    ("我们从 Jenkins 换成了 GitLab", "决定用 Jenkins 做 CI"),
    ("JenkinsからGitLabに切り替えました", "CIはJenkinsを使うことにしました"),
    ("We switched from Jenkins to GitHub Actions.", "we switched from Travis to Jenkins"),
]
STAY = [
    ("We switched from Jenkins to GitHub Actions.", "Travis over Jenkins for the docs"),
    ("We switched from Jenkins to GitHub Actions.", "We do not use Jenkins for the docs"),
    ("We switched from Jenkins to GitHub Actions.", "We switched from Jenkins to Travis"),
    ("We switched the docs build from Jenkins to Travis.", "We use Jenkins for the nightly benchmarks"),
    ("We switched from Java to Kotlin", "We use JavaScript for the frontend"),
    ("We switched from Jenkins to GitHub Actions.", "The Jenkins box has 8 GB"),
    ("JenkinsからGitLabに切り替えました", "JenkinsではなくTravisを使う"),
]


@pytest.mark.parametrize(("said", "known"), ENDED)
def test_a_switch_ends_the_decision_for_what_was_before(said: str, known: str) -> None:
    others = ["Redis for the session cache", "Ben owns the deploys"]
    assert ended_by(said, [(text, text) for text in (*others, known)]) == known


@pytest.mark.parametrize(("said", "known"), STAY)
def test_a_switch_ends_nothing_else(said: str, known: str) -> None:
    assert ended_by(said, [(known, known)]) is None


def test_of_two_decisions_for_it_the_subject_tells_which_else_none_is_ended() -> None:
    known = [("ci", "We use Jenkins for the builds"), ("docs", "We use Jenkins for the docs")]
    assert ended_by("We switched from Jenkins to GitHub Actions.", known) is None
    assert ended_by("We switched the docs from Jenkins to GitHub Actions.", known) == "docs"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("キャッシュには Redis を使う", "キャッシュには Redis を使わない"),
        ("キャッシュには Redis を使います", "キャッシュには Redis を使いません"),
        ("決定: 金曜日にデプロイする", "決定: 金曜日にデプロイしない"),
        ("Redis を採用することにしました", "Redis を採用しないことにしました"),
        ("週報は月曜に送る", "週報は月曜に送らない"),
    ],
)
def test_a_japanese_verb_and_its_negation_oppose(one: str, other: str) -> None:
    assert opposes(words(one), words(other))
    assert opposes(words(other), words(one))
    assert contrary(one, other)
    assert not repeats(words(one), words(other))


def test_plain_and_polite_say_the_same() -> None:
    assert repeats(words("キャッシュには Redis を使います"), words("キャッシュには Redis を使う"))
    assert not opposes(words("キャッシュには Redis を使う"), words("会議には Zoom を使わない"))
