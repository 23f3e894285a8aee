"""Bytes and text: nothing is lost, nothing undecodable is written over, line ends and BOM stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.errors import PageDamaged
from memory_core.ids import GroupScope, PageId
from memory_core.layouts import APM, INDEX
from memory_core.store.base import Change
from memory_core.store.encoding import decode, encode
from memory_core.store.files import FileStores

BUILD = GroupScope("build")
EXPERIENCE = PageId("experience")
OLD = "# Experience\n\n## [2026-04-06] Redis\n- Body: old\n"


def put(workspace: Path, file: str, content: bytes) -> Path:
    path = workspace / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@given(st.text(st.characters(exclude_categories=["Cs"])), st.booleans())
def test_text_survives_disk_and_back(text: str, bom: bool) -> None:
    page = decode(INDEX, encode(text, bom), 0)
    if bom or not text.startswith("\ufeff"):
        assert (page.text, page.bom, page.bad_bytes) == (text, bom, ())


@given(st.binary())
def test_every_undecodable_byte_is_marked_and_listed(content: bytes) -> None:
    page = decode(INDEX, content, 0)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        assert len(page.bad_bytes) == 2
        return
    bare = bytes(byte for place, byte in enumerate(content) if place not in {bad.offset for bad in page.bad_bytes})
    assert bare.decode("utf-8-sig").count("\ufffd") + len(page.bad_bytes) == page.text.count("\ufffd")
    assert page.bad_bytes or encode(page.text, page.bom) == content


@pytest.mark.parametrize(
    ("content", "readable", "offset"),
    [
        (b"# Blockers\ncaf\xe9\n", "# Blockers\ncaf\ufffd\n", 14),
        ("# Blockers\n等待\n".encode("gbk"), "# Blockers\n", 11),
        ("# Blockers\n等待\n".encode("utf-16"), "# Blockers\n等待\n", 0),
        (b"\xef\xbb\xbfok \xff", "ok \ufffd", 6),
    ],
)
@pytest.mark.asyncio
async def test_case_68_the_readable_part_loads_and_is_never_written_over(
    tmp_path: Path, content: bytes, readable: str, offset: int
) -> None:
    path = put(tmp_path, "memory/groups/build/attention.md", content)
    store = FileStores(tmp_path, APM).open(BUILD)
    page = await store.read(PageId("attention"))
    assert page
    assert page.text.startswith(readable)
    assert page.bad_bytes[0].offset == offset
    with pytest.raises(PageDamaged, match=f"offset {offset}"):
        await store.commit([Change(page.page, page.text + "more", page.stamp)])
    assert path.read_bytes() == content


@pytest.mark.asyncio
async def test_case_69_bom_and_crlf_survive_an_append(tmp_path: Path) -> None:
    before = b"\xef\xbb\xbf---\r\npurpose: x\r\n---\r\n"
    path = put(tmp_path, "memory/groups/build.md", before)
    store = FileStores(tmp_path, APM).open(BUILD)
    page = await store.read(INDEX)
    assert page
    assert page.text.startswith("---")
    await store.commit([Change(INDEX, page.text + "- rule\r\n", page.stamp)])
    assert path.read_bytes() == before + b"- rule\r\n"


@pytest.mark.asyncio
async def test_case_117_line_ends_stay_uniform(tmp_path: Path) -> None:
    path = put(tmp_path, "memory/groups/build/experience.md", OLD.replace("\n", "\r\n").encode())
    store = FileStores(tmp_path, APM).open(BUILD)
    page = await store.read(EXPERIENCE)
    assert page
    await store.commit([Change(EXPERIENCE, page.text + "## [2026-04-07] New\r\n", page.stamp)])
    assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n") == 5
