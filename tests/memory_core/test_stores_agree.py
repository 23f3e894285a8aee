"""The store in memory and the store on disk give the same answers, whatever is done to them in whatever order."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memory_core.errors import RememError
from memory_core.ids import DirectScope, GroupScope, PageId, PersonKey, Scope
from memory_core.layouts import APM
from memory_core.store.base import Change, PageText, Stamp, State
from memory_core.store.encoding import same
from memory_core.store.files import FileStores
from memory_core.store.memory import MemoryStores
from tests.memory_core.disks import temporary_files
from tests.scale import scale

SCOPES: tuple[Scope, ...] = (
    GroupScope("build"),
    GroupScope("日常"),
    DirectScope(PersonKey("console:owner"), owner=True),
    DirectScope(PersonKey("slack:T1:U2")),
)
scopes = st.sampled_from(SCOPES)
pages = st.sampled_from(
    "index attention soul people user memory longterm state/flush state/tasks "
    "conventions/api conventions/A.b projects/日常 journal/2026-04-06 archive/2026-04 "
    f"conventions/.. journal/2026 journal/ ../secret conventions/{'日' * 80} projects/{'🎉' * 80}".split()
).map(PageId)
texts = st.text(st.sampled_from("ab\r\n\ufeff日\ud800\ufffd|#- "), max_size=12)
contents = st.one_of(
    st.binary(max_size=12),
    texts.map(lambda text: text.encode("utf-8", "replace")),
    st.sampled_from([b"\xef\xbb\xbf# T\r\n\r\nx\r\n", b"caf\xe9\n", b"\xff\xfea\x00", "中文".encode("gbk")]),
)

Told: TypeAlias = tuple[str, bool, tuple[int, ...], int, str]


def told(page: PageText | None) -> Told | None:
    """A page without its time, which differs by right."""
    if page is None:
        return None
    offsets = tuple(bad.offset for bad in page.bad_bytes)
    return page.text, page.bom, offsets, page.stamp.size_bytes, page.stamp.sha256


class Agreement(RuleBasedStateMachine):
    """One workspace on disk, one in memory; every step is taken on both."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.files = FileStores(self.root, APM)
        self.memory = MemoryStores(APM)
        self.runner = asyncio.Runner()
        self.seen: dict[tuple[Scope, PageId], tuple[Stamp, Stamp]] = {}
        self.contents: dict[tuple[Scope, PageId, State], bytes | None] = {}

    def teardown(self) -> None:
        self.runner.close()
        self.files.close()
        self.folder.cleanup()

    @rule(scope=scopes, page=pages)
    def read(self, scope: Scope, page: PageId) -> None:
        async def both() -> None:
            try:
                expected = await self.memory.open(scope).read(page)
            except RememError as error:
                await self._fails(scope, page, None, error)
                return
            found = await self.files.open(scope).read(page)
            assert told(found) == told(expected)
            if found and expected:
                self.seen[scope, page] = (expected.stamp, found.stamp)

        self.runner.run(both())

    @rule(scope=scopes, page=pages, text=texts, create=st.booleans())
    def commit(self, scope: Scope, page: PageId, text: str, create: bool) -> None:
        known = None if create else self.seen.get((scope, page))

        async def both() -> None:
            try:
                change = Change(page, text, known and known[0])
                (expected,) = await self.memory.open(scope).commit([change])
            except RememError as error:
                await self._fails(scope, page, Change(page, text, known and known[1]), error)
                return
            (found,) = await self.files.open(scope).commit([Change(page, text, known and known[1])])
            assert same(found, expected)
            self.seen[scope, page] = (expected, found)

        self.runner.run(both())

    @rule(scope=scopes, page=pages)
    def remove(self, scope: Scope, page: PageId) -> None:
        known = self.seen.get((scope, page))

        async def both() -> None:
            try:
                assert await self.memory.open(scope).commit([Change(page, None, known and known[0])]) == ()
            except RememError as error:
                await self._fails(scope, page, Change(page, None, known and known[1]), error)
                return
            assert await self.files.open(scope).commit([Change(page, None, known and known[1])]) == ()

        self.runner.run(both())

    @rule(scope=scopes, page=pages, content=st.none() | contents)
    def edit_by_hand(self, scope: Scope, page: PageId, content: bytes | None) -> None:
        try:
            self.memory.put(scope, page, content)
        except RememError:
            return
        path = self.root / APM.file(scope, page)
        if content is None:
            path.unlink(missing_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    @rule(scope=scopes, name=st.sampled_from(["x.txt", ".hidden.md", ".remem-0123456789abcdef.tmp", "a.md.bak"]))
    def clutter(self, scope: Scope, name: str) -> None:
        path = (self.root / APM.file(scope, PageId("attention"))).with_name(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"no page")

    @rule()
    def sweep(self) -> None:
        self.files._tree.sweep()
        assert temporary_files(self.root) == []

    @invariant()
    def same_pages(self) -> None:
        async def both() -> None:
            for scope in SCOPES:
                assert await self.files.open(scope).pages() == await self.memory.open(scope).pages()

        self.runner.run(both())

    @invariant()
    def same_states(self) -> None:
        """Of the same pages, of the same sizes; and in both a state that was seen before is the content seen then."""

        async def both() -> None:
            for scope in SCOPES:
                twins = (self.files.open(scope), self.memory.open(scope))
                found, expected = [await store.states() for store in twins]
                assert [*found] == [*expected] == [*await twins[0].pages()]
                for page, state in expected.items():
                    raw = self.memory.raw(scope, page)
                    assert state.size == found[page].size == len(raw or b"")
                    assert self.contents.setdefault((scope, page, state), raw) == raw

        self.runner.run(both())

    async def _fails(self, scope: Scope, page: PageId, change: Change | None, error: RememError) -> None:
        store = self.files.open(scope)
        with pytest.raises(type(error)) as found:
            await (store.read(page) if change is None else store.commit([change]))
        assert str(found.value) == str(error)


TestAgreement = Agreement.TestCase
TestAgreement.settings = settings(max_examples=scale(400), stateful_step_count=30, deadline=None)
