"""Records under the headings of a page: adaptive's MEMORY.md, and the decisions of a group's channel context.

    ## Key Decisions

    ### [2026-04-06] Redis for the session cache
    - Fitness: …

A record stands one level below its section, newest first, behind what a person wrote in the section by hand. A
section is known by its heading, wherever it stands; one that is missing is added at the end. Reading, changing and
removing records is the same on every page (memory_core.forms.records), for a record keeps the level that it has.
"""

from __future__ import annotations

import re

from memory_core.forms import listed
from memory_core.forms.blocks import lines_of
from memory_core.layouts import Form

WITH_RECORDS = frozenset({Form.NEWEST_FIRST, Form.ADDED, Form.SECTIONS, Form.CHANNEL})
"""The forms of pages on which records stand."""

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*")


def span(text: str, section: str) -> tuple[int, int, int] | None:
    """Where the lines under that heading begin and end (blank ones at the end apart), and the heading's level."""
    lines = listed.section(text, section)
    if not lines:
        return None
    level = len(lines[0].text) - len(lines[0].text.lstrip("#"))
    end = lines[0].end
    for line in lines_of(text):
        if line.start < lines[0].end:
            continue
        found = None if line.inert else _HEADING.fullmatch(line.text)
        if found and len(found[1]) <= level:
            break
        end = line.end if line.text.strip() else end
    return lines[0].end, end, level


def section_at(text: str, at: int) -> str:
    """The section (a heading of level 2 that is no record's) in which the character `at` stands; '' for none."""
    found = ""
    for line in lines_of(text):
        if line.start >= at:
            break
        heading = None if line.inert else _HEADING.fullmatch(line.text)
        if heading and len(heading[1]) <= 2:
            found = heading[2] if len(heading[1]) == 2 and not heading[2].startswith("[") else ""
    return found
