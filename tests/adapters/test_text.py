"""Cutting Markdown: every piece fits, stands alone and loses nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.marks import Fence, opening
from adapters.text import SMALLEST_LIMIT, split
from memory_core.errors import BadInput
from tests.scale import scale

LIMIT = 2000
_FENCE = re.compile(r"[ \t>]*(?:- )?(`{3,}|~{3,})")


def fences_balance(piece: str) -> bool:
    """Does every fence that the piece opens close in it, for a reader who lets the marks alone toggle?"""
    open_marker = ""
    for line in piece.split("\n"):
        found = _FENCE.match(line)
        if not found:
            continue
        if not open_marker:
            open_marker = found[1]
        elif found[1].startswith(open_marker):
            open_marker = ""
    return not open_marker


def left_open(piece: str, limit: int) -> bool:
    """Does the piece end inside a fence, read as `split` reads it?"""
    fence: Fence | None = None
    for line in piece.split("\n"):
        if fence is not None:
            fence = fence if fence.tail_of(line) is None else None
        elif opened := opening(line, limit):
            fence = opened[0]
    return fence is not None


def code_in(pieces: tuple[str, ...]) -> str:
    """The text between fences, all pieces joined, line breaks at cuts included."""
    lines: list[str] = []
    for piece in pieces:
        inside = False
        for line in piece.split("\n"):
            if line.startswith("```"):
                inside = not inside
            elif inside:
                lines.append(line)
    return "\n".join(lines)


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_short_text_comes_back_as_it_is() -> None:
    assert split("hello\n\n  world ", LIMIT) == ("hello\n\n  world ",)


@pytest.mark.parametrize("blank", ["", " ", "\n \n", " " * 5000])
def test_blank_text_gives_no_piece(blank: str) -> None:
    assert split(blank, LIMIT) == ()


def test_a_limit_that_leaves_no_room_is_refused() -> None:
    with pytest.raises(BadInput, match=str(SMALLEST_LIMIT)):
        split("x", SMALLEST_LIMIT - 1)


def test_cuts_fall_between_paragraphs_before_lines_before_words() -> None:
    paragraphs = "\n\n".join(f"{name} " * 60 for name in ("alpha", "beta", "gamma"))
    assert [piece.split()[0] for piece in split(paragraphs, 800)] == ["alpha", "gamma"]
    lines = "\n".join("word " * 30 + str(number) for number in range(10))
    assert all(piece[-1].isdigit() for piece in split(lines, 700))
    assert all(piece.endswith("word") for piece in split("word " * 500, 999))


@pytest.mark.parametrize("limit", [2000, 3900])
@pytest.mark.parametrize("info", ["", "python", "x" * 300, "x" * 3000])
def test_case_3_a_long_fence_is_reopened_bare_in_every_piece(limit: int, info: str) -> None:
    code = "\n".join(f"line {number} of the code" for number in range(5000 // 20))
    pieces = split(f"```{info}\n{code}\n```", limit)
    assert len(pieces) > 1
    assert all(len(piece) <= limit and fences_balance(piece) for piece in pieces)
    assert all(piece.startswith("```\n") and piece.endswith("\n```") for piece in pieces[1:])
    assert code_in(pieces) == code


def test_case_3_one_code_line_of_5000_characters() -> None:
    code = "".join(chr(97 + number % 26) for number in range(5000))
    pieces = split(f"Here:\n```{'i' * 300}\n{code}\n```\nDone.", LIMIT)
    assert all(len(piece) <= LIMIT and fences_balance(piece) for piece in pieces)
    assert code_in(pieces).replace("\n", "") == code


@pytest.mark.parametrize("tail", range(1990, 2001))
@pytest.mark.parametrize("before", ["code\n", "code\n" * 300])
def test_case_4_a_closing_line_with_a_long_tail(tail: int, before: str) -> None:
    pieces = split(f"```\n{before}```{'t' * tail}", LIMIT)
    assert all(0 < len(piece) <= LIMIT and fences_balance(piece) for piece in pieces)
    assert squeezed(code_in(pieces)) == squeezed(before)
    assert sum(piece.count("t") for piece in pieces) == tail


def test_case_6_inline_code_in_a_bullet_is_closed_and_reopened() -> None:
    command = " ".join(f"--option-{number}=value" for number in range(120))[:2300]
    pieces = split(f"- `{command}`", LIMIT)
    assert [piece.count("`") for piece in pieces] == [2, 2]
    assert pieces[0].startswith("- `")
    assert pieces[0].endswith("`")
    assert pieces[1].startswith("  `")
    assert squeezed("".join(re.findall(r"`([^`]*)`", "".join(pieces)))) == squeezed(command)


def test_case_6_inline_code_without_a_blank() -> None:
    pieces = split(f"- ``{'x' * 2300}``", LIMIT)
    assert all(len(piece) <= LIMIT and piece.count("``") == 2 for piece in pieces)


def test_case_6_a_quote_keeps_its_marks() -> None:
    pieces = split("> " + "quoted " * 600, LIMIT)
    assert len(pieces) == 3
    assert all(piece.startswith("> quoted") for piece in pieces)


def test_a_cut_never_turns_a_word_into_a_heading_or_item() -> None:
    pieces = split("value - # 1. > ``` " * 300, 500)
    assert all(piece.startswith("value") for piece in pieces)


def test_a_fence_in_a_quote_and_in_a_list_is_repeated_with_its_lead() -> None:
    quoted = split("> ```\n" + "> code line\n" * 300 + "> ```", LIMIT)
    assert all(piece.startswith("> ```\n") and piece.endswith("\n> ```") for piece in quoted)
    listed = split("- ```py\n" + "  code line\n" * 300 + "  ```", LIMIT)
    assert all(piece.endswith("\n  ```") and fences_balance(piece) for piece in listed[:-1])


def test_a_code_block_that_fits_is_not_torn() -> None:
    block = "```\n" + "code\n" * 200 + "```"
    pieces = split("prose " * 200 + "\n" + block, LIMIT)
    assert pieces[-1] == block


def test_blank_code_lines_survive_a_cut() -> None:
    code = "\n".join("" if number % 3 else f"x{number}" for number in range(2000))
    assert code_in(split(f"```\n{code}\n```", LIMIT)) == code


def test_a_character_with_its_marks_is_not_parted() -> None:
    family = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"
    assert all(piece.replace(family, "") == "" for piece in split(family * 300, 101))


ALPHABET = st.sampled_from(
    ["```", "~~~", "`", "``", "````", "\n", "\n\n", " ", "  ", "\t", "> ", "- ", "1. ", "# ", "word", "x" * 37,
     "日本", "```py\n", "\n```\n", "*", "**", "\r\n", "e\u0301", "`" * 30, "y" * 200]
)  # fmt: skip
MARKDOWN = st.lists(ALPHABET, max_size=120).map("".join)


@settings(max_examples=scale(4000), deadline=None)
@given(MARKDOWN, st.integers(SMALLEST_LIMIT, 300))
def test_every_piece_fits_and_none_is_blank(markdown: str, limit: int) -> None:
    pieces = split(markdown, limit)
    assert all(0 < len(piece) <= limit and piece.strip() for piece in pieces)
    assert bool(pieces) == bool(markdown.strip())


@settings(max_examples=scale(4000), deadline=None)
@given(
    st.text(
        st.characters(blacklist_categories=["Cs"], blacklist_characters="`~>#-*+.)\x1c\x1d\x1e\x1f\x85"), max_size=900
    )
)
def test_text_without_marks_is_kept_whole(text: str) -> None:
    assert squeezed("".join(split(text, 100))) == squeezed(text)


TICKED = "``a ` b``"
WORDS = st.lists(
    st.sampled_from(["word", "日本", "`code here`", TICKED, "x" * 90, "**bold**"]), min_size=1, max_size=60
)
BLOCKS = st.lists(
    st.one_of(
        WORDS.map(" ".join),
        WORDS.map(lambda words: "- " + " ".join(words)),
        WORDS.map(lambda words: "> " + "\n> ".join(words)),
        WORDS.map(lambda words: "```py\n" + "\n".join(words) + "\n```"),
        WORDS.map(lambda words: "~~~\n" + " ".join(words) + "\n~~~"),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=scale(4000), deadline=None)
@example(
    [
        f"word word word `code here` {TICKED} **bold** **bold** {TICKED} word word word word word",
        f"```py\nword\nword\n{TICKED}\n```",
    ],
    60,
    "\n",
)
@given(BLOCKS, st.integers(SMALLEST_LIMIT, 300), st.sampled_from(["\n", "\n\n"]))
def test_no_piece_of_a_well_formed_answer_ends_inside_a_fence(blocks: list[str], limit: int, between: str) -> None:
    answer = between.join(blocks)
    pieces = split(answer, limit)
    assert all(len(piece) <= limit and not left_open(piece, limit) for piece in pieces)
    assert [c for c in "".join(pieces) if c in "wo日x"] == [c for c in answer if c in "wo日x"]


CODE_LINES = st.lists(st.text(st.sampled_from("ab `~>#"), max_size=150), min_size=1, max_size=30)


@settings(max_examples=scale(4000), deadline=None)
@given(CODE_LINES, st.integers(100, 400), st.text("pqr", max_size=300))
def test_fenced_code_is_kept_whole(lines: list[str], limit: int, info: str) -> None:
    code = [line for line in lines if not line.lstrip(" >").startswith("```")] or ["x"]
    pieces = split(f"```{info}\n" + "\n".join(code) + "\n```", limit)
    assert all(fences_balance(piece) for piece in pieces)
    assert code_in(pieces).replace("\n", "") == "".join(code)


def test_a_long_text_is_cut_in_linear_time() -> None:
    assert len(split("word " * 60_000 + "`" * 5000 + "a ``` b " * 5000, 3900)) > 80
