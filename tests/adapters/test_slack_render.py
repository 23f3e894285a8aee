"""Markdown in Slack's form: escaped once, pinging nobody, in pieces that Slack takes."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.messages import Button
from adapters.slack.render import PIECE_CHARACTERS, SECTION_CHARACTERS, mrkdwn, pieces, with_buttons
from tests.peers.slack import rules
from tests.peers.slack.world import Post
from tests.scale import scale


@pytest.mark.parametrize(
    ("markdown", "slack"),
    [
        ("if a < b && c > d", "if a &lt; b &amp;&amp; c &gt; d"),
        ("> quoted", "> quoted"),
        ("> > deeper <x>", "> &gt; deeper &lt;x&gt;"),
        ("https://example.com/?x=1&y=2", "<https://example.com/?x=1&amp;y=2>"),
        ("(see https://example.com/a_(b), or not.)", "(see <https://example.com/a_(b)>, or not.)"),
        ("see [the page](https://example.com/?x=1&y=2)", "see <https://example.com/?x=1&amp;y=2|the page>"),
        ("<https://example.com>", "<https://example.com>"),
        ("[no](javascript:alert(1))", "[no](javascript:alert(1))"),
        ("[<!channel>](https://example.com)", "<https://example.com|&lt;!channel&gt;>"),
        ("```html\n<div> & **x**\n```", "```\n&lt;div&gt; &amp; **x**\n```"),
        ("~~~\n*x*\n~~~", "```\n*x*\n```"),
        ("run `a < b` now", "run `a &lt; b` now"),
        ("`**not bold**`", "`**not bold**`"),
        ("**bold** and __strong__", "*bold* and *strong*"),
        ("*slanted* and _slanted_", "_slanted_ and _slanted_"),
        ("***both***", "*_both_*"),
        ("~~gone~~", "~gone~"),
        ("## Title **x** ##", "*Title x*"),
        ("- item\n  * nested\n1. one", "• item\n  • nested\n1. one"),
        ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        ("---", "———"),
        ("- - -", "———"),
        ("-  \n- x", "• \n• x"),
        ("``a`b``", "``a`b``"),
        (r"\*plain\*", "*plain*"),
        ("&lt;", "&amp;lt;"),
        ("**[link](https://example.com)**", "*<https://example.com|link>*"),
    ],
)
def test_case_42_each_form(markdown: str, slack: str) -> None:
    assert mrkdwn(markdown) == slack


def test_a_table_becomes_even_columns() -> None:
    table = "| form | effect |\n|---|:---:|\n| `status` | a & b |\n| x | longer one |"
    assert mrkdwn(table) == "```\nform      effect\n`status`  a &amp; b\nx         longer one\n```"


def test_a_long_cell_does_not_blow_up_its_table() -> None:
    rows = [f"| {'word ' * (60 if number == 3 else 5)}| ana |" for number in range(40)]
    (table,) = pieces("\n".join(["| task | who |", "|---|---|", *rows]))
    assert len(table) < PIECE_CHARACTERS


@pytest.mark.parametrize(
    "hostile",
    ["x " + "`" * 3800, "".join("x" + "`" * (number % 80) for number in range(90)), "# a" + " \t" * 1900 + "b"],
)
def test_what_people_type_is_rendered_in_linear_time(hostile: str) -> None:
    began = time.perf_counter()
    assert pieces(hostile)
    assert time.perf_counter() - began < 2, "minutes, before the patterns gave nothing back"


@pytest.mark.parametrize(
    "quoted", ["<!channel>", "<!here|here>", "<@U0AAA>", "<!subteam^S1>", "@channel @here <#C1>"]
)
@pytest.mark.parametrize(
    "around", ["{}", "**{}**", "> {}", "`{}`", "```\n{}\n```", "[{}](https://example.com)", "- {}"]
)
def test_case_44_what_an_answer_quotes_pings_nobody(quoted: str, around: str) -> None:
    text = mrkdwn(around.format(quoted))
    assert not Post("C1", text).pings
    assert quoted.strip("<>!@#|")[:4] in text


@pytest.mark.parametrize("length", [2999, 3001, 4001, 13_300, 41_000])
@pytest.mark.parametrize("unit", ["word ", "a<b ", "x" * 50 + "&\n", "- `code` **bold**\n\n"])
def test_case_40_pieces_of_every_length_are_taken(length: int, unit: str) -> None:
    markdown = (unit * (length // len(unit) + 1))[:length]
    told = pieces(markdown)
    assert all(0 < len(text) <= PIECE_CHARACTERS and not rules.content_refused(text, []) for text in told)
    kept = re.sub(r"[\s*•`-]|&amp;|&lt;", "", "".join(told))
    assert kept == re.sub(r"[\s*&<`-]", "", markdown)


def test_case_3_a_fence_is_whole_in_every_piece() -> None:
    told = pieces("```python\n" + "x = 1 < 2 && y\n" * 500 + "```")
    assert all(text.startswith("```\n") and text.endswith("\n```") and text.count("```") == 2 for text in told)
    assert "".join(text[4:-3] for text in told) == "x = 1 &lt; 2 &amp;&amp; y\n" * 500


def test_a_message_with_buttons_is_taken() -> None:
    told = pieces("x" * 2999 + " " + "y<" * 3000, SECTION_CHARACTERS)
    buttons = [Button("yes", "Yes"), Button("no", "No, " * 40)]
    blocks = with_buttons(told[-1], buttons)
    assert rules.content_refused(told[-1], blocks) == ""
    assert Post("C1", "", blocks=tuple(blocks)).buttons[0]["value"] == "yes"


TOKENS = st.sampled_from(
    ["<!channel>", "<@U1>", "`", "``", "```\n", "\n", "**", "*", "_", "~~", "[", "](", ")", "https://a.b/", "<", ">",
     "&", "> ", "- ", "# ", "| ", " |\n", "word", " ", "\\", "|", "~~~\n", "<!here", "mailto:x@y"]
)  # fmt: skip


@settings(max_examples=scale(4000), deadline=None)
@given(st.lists(TOKENS, max_size=80).map("".join))
def test_nothing_pings_and_every_piece_fits(markdown: str) -> None:
    for text in pieces(markdown):
        assert not Post("C1", text).pings
        assert 0 < len(text) <= PIECE_CHARACTERS
        bare = re.sub(r"<(?:https?://|mailto:)[^<>\s]+(?: [^<>]*)?(?:\|[^<>]*)?>", "", text)
        assert "<" not in bare


@settings(max_examples=scale(1000), deadline=None)
@given(st.text(max_size=300))
def test_any_text_renders(markdown: str) -> None:
    assert isinstance(mrkdwn(markdown), str)
