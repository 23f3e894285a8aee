"""An answer that grows on a terminal: only what is new is written, and everything else begins a line of its own."""

from __future__ import annotations

from adapters.console.screen import Screen
from memory_core.ids import MessageKey

ONE, TWO = MessageKey("console:ana:r1"), MessageKey("console:ana:r2")


def _screen() -> tuple[Screen, list[str]]:
    shown: list[str] = []
    return Screen(lambda text: shown.append(f"{text}\n"), shown.append), shown


def test_only_the_new_part_is_written() -> None:
    screen, shown = _screen()
    for text in ("remem: We", "remem: We chose", "remem: We chose Redis"):
        screen.show(ONE, text, growing=True)
    screen.show(ONE, "remem: We chose Redis.", growing=False)
    assert shown == ["remem: We", " chose", " Redis", ".", "\n"]
    screen.show(ONE, "remem: We chose Redis.", growing=False)
    screen.line("next")
    assert "".join(shown) == "remem: We chose Redis.\nnext\n"


def test_what_turns_out_otherwise_is_written_anew() -> None:
    screen, shown = _screen()
    screen.show(ONE, "remem: We", growing=True)
    screen.show(ONE, "remem: Noted.\n\nWe chose", growing=False)
    assert "".join(shown) == "remem: We\nremem: Noted.\n\nWe chose\n"


def test_another_line_ends_the_open_one() -> None:
    screen, shown = _screen()
    screen.show(ONE, "remem: We", growing=True)
    screen.line("[#build] remem: hello")
    screen.show(TWO, "remem: other", growing=False)
    screen.show(ONE, "remem: We chose", growing=False)
    assert "".join(shown) == "remem: We\n[#build] remem: hello\nremem: other\nremem: We chose\n"


def test_without_a_way_to_write_parts_an_answer_is_written_when_it_is_whole() -> None:
    shown: list[str] = []
    screen = Screen(shown.append)
    screen.show(ONE, "remem: We", growing=True)
    screen.show(ONE, "remem: We chose", growing=False)
    assert shown == ["remem: We chose"]
