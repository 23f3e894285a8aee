"""Words of any script, one line, pleasantries."""

from __future__ import annotations

import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import terms as rules
from memory_core.pleasantry import is_pleasantry
from memory_core.script import _INVISIBLE, fold, visible
from memory_core.terms import _add, _stem, _without_commas, _word_terms, asked, surfaces, terms
from memory_core.text import one_line
from tests.scale import scale

ENDINGS = ("", "s", "ed", "ing", "er", "ation", "ational", "ness", "ly")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We decided; the decision stands", {"decid", "stand"}),
        ("今天把服务发布到线上", {"服务", "发布", "线上"}),
        ("デプロイはいつ", {"デプ", "プロ", "ロイ", "いつ"}),
        ("배포를 언제", {"배포", "언제", "deploy"}),
        ("谁", {"谁"}),
        ("把API发布", {"api", "发布", "把"}),
        ("foo_bar", {"foo_bar", "foo", "bar"}),
        ("see v2.3 of it", {"v2.3", "2.3", "see"}),
        ("GET /api/users", {"/api/users", "api", "user", "get"}),
        ("fixes #42.", {"#42", "42", "fix"}),
        ("mail ana@example.com", {"ana@example.com", "ana", "mail"}),
        ("src/app/main.py", {"src/app/main.py", "src", "app", "main", "py"}),
        (r"C:\data\in", {r"c:\data\in", "data"}),
        ("getUserName()", {"getusername", "get", "user", "name"}),
        ("C++ or C#", {"c++", "c#"}),
        ("我们用C++写后端，不用C#了", {"c++", "c#", "后端"}),
        ("2026-04-06 at 14:30, 1,000 times 3.14", {"2026-04-06", "14:30", "1000", "3.14", "time"}),
        ("Wer ist für die Übergabe zuständig", {"wer", "zustand", "ubergab"}),
        ("naïve café", {"naïve", "café"}),
        ("नमस्ते दुनिया", {"नमस्ते", "दुनिया"}),
    ],
)
def test_terms_of_every_script(text: str, expected: set[str]) -> None:
    assert expected <= set(terms(text))


def test_two_forms_of_one_word_meet() -> None:
    assert set(terms("Deployments")) & set(terms("deployment"))
    assert terms("ｄｅｐｌｏｙ") == terms("deploy")
    assert terms("de\u200bploy") == terms("DEPLOY")
    assert terms("café") == terms("cafe\u0301")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("傳說", "传说"), ("広場", "廣場"), ("資料庫", "数据库"), ("檔案", "文件"), ("伺服器", "server"),
        ("サーバー", "サーバ"), ("デプロイ", "deploy"),
        ("キャッシュ", "缓存"), ("캐시를", "cache"), ("데이터베이스", "database"), ("ｷｬｯｼｭ", "キャッシュ"),
        ("打ち合わせ", "打合せ"), ("問い合わせ", "問合せ"), ("締め切り", "締切"), ("引き継ぎ", "引継"),
        ("決めた", "決定した"), ("決まった", "決めました"), ("止める", "停止しました"), ("移した", "移行は"),
        ("정했다", "정하기로"), ("바꾼", "바꿨어요"), ("줄였다", "줄인"), ("멈췄다", "멈춰"), ("보냈다", "보낸"),
        ("四月六日", "4月6号"), ("4月6日", "2026-04-06"), ("2026年4月6日", "2026-04-06"), ("4월 6일", "4/6"),
        ("사월 육일", "4月6日"), ("4月6日", "April 6"), ("周五", "金曜日"), ("禮拜五", "Friday"),
        ("금요일", "Freitag"),
        ("下午三点", "15:00"), ("午後3時半", "15:30"), ("오후 3시", "15:00"), ("三十天", "30天"),
        ("五千元", "5,000元"),
        ("百分之五", "5%"), ("一万二千单", "12000"), ("三十分", "30分"),
    ],
)  # fmt: skip
def test_what_is_written_in_two_ways_meets(one: str, other: str) -> None:
    assert set(terms(one)) & set(terms(other)), (terms(one), terms(other))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("下午三点", ("15:00", "3:00")),
        ("上午三点半", ("3:30",)),
        ("오후 3시 5분", ("15:05", "3:05")),
        ("2026年4月6日", ("2026-04-06", "04-06", "april", "6")),
        ("一万二千", ("12000",)),
        ("金曜日", ("friday",)),
    ],
)
def test_what_is_spoken_is_told_as_it_is_written(text: str, expected: tuple[str, ...]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("一个", "1"), ("十分感谢", "10"), ("千万别忘", "1000"), ("星期五", "星期六"), ("4月6日", "5月16日"),
        ("3点", "3天"),
        ("カタログ", "log"), ("ブログ", "log"), ("アップロード", "load"), ("二時間", "2:00"), ("프로그램", "log"),
        ("13月40日", "january"), ("会議は長い", "はい"), ("サーバーの", "の"),
    ],
)  # fmt: skip
def test_what_only_looks_alike_does_not_meet(one: str, other: str) -> None:
    assert not set(terms(one)) & set(terms(other)), (terms(one), terms(other))


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("研修資料の置き場所をご教示ください", terms("研修資料の置き場所")),
        ("キャッシュについて教えてください", terms("キャッシュ")),
        ("백업은 언제 하나요", terms("백업 언제 하")),
    ],
)
def test_politeness_is_not_asked_for(question: str, left: tuple[str, ...]) -> None:
    assert set(asked(question)) == set(left)


def test_function_words_go_and_question_words_stay() -> None:
    assert terms("what is the") == ()
    assert "who" in terms("whos the owner")
    assert terms("why did we") == terms("WHY")
    assert terms("don't doesn't") == ()


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("对象存储我们决定用什么？", ("对象", "象存", "存储", "object", "storag")),
        ("会话缓存我们用的是哪个", ("会话", "话缓", "缓存", "session", "cach")),
        ("请问我们决定了什么", ("决定",)),
        ("为什么我们用 Redis", ("为什", "什么", "用", "redi")),
        ("什么时候发布", ("什么", "么时", "时候", "候发", "发布", "releas")),
        ("我们用什么？", terms("我们用什么？")),
        ("what did we decide?", terms("what did we decide?")),
    ],
)
def test_a_question_is_asked_without_the_function_words_of_chinese(question: str, left: tuple[str, ...]) -> None:
    assert asked(question) == left


@given(st.text())
def test_terms_are_folded_and_never_empty(text: str) -> None:
    for term in terms(text):
        assert term
        assert not any(char.isspace() for char in term)
        assert term == term.lower() or term == fold(term)
    assert terms(text) == terms(text)


@given(st.text())
def test_surfaces_and_terms_tell_the_same(text: str) -> None:
    assert terms(text) == tuple(term for _, found in surfaces(text) for term in found)


@given(st.text())
def test_fold_is_stable(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(), st.integers(min_value=0, max_value=300))
def test_one_line_is_one_line(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
    assert not any(unicodedata.category(char) in {"Cc", "Zl", "Zp", "Cs"} for char in line)
    assert one_line(line, limit) == line
    line.encode()


def test_one_line_cuts_with_a_mark() -> None:
    assert one_line("a  b\r\n\tc") == "a b c"
    assert one_line("x" * 300) == "x" * 199 + "…"
    assert one_line("ab\u202edc") == "abdc"


PLEASANTRIES = [
    "hi", "Hello!", "hey remem 👋", "good morning everyone", "thanks a lot!", "thank you so much, great help",
    "ty!", "@remem thx", "<@U123> thanks", "how are you?", "good night", "see you tomorrow",
    "great work, thanks", "👍", "", "你好", "谢谢啦", "大家早上好", "辛苦了", "收到，谢谢", "晚安", "早",
    "おはようございます", "ありがとう！", "お疲れ様でした", "감사합니다", "안녕하세요", "guten Morgen",
    "vielen Dank!", "merci beaucoup", "muchas gracias", "hola", "спасибо", "ok谢谢",
]  # fmt: skip
REQUESTS = [
    "?", "thanks, who owns billing?", "谢谢，部署好了吗", "hi, what's blocked", "good idea",
    "thanks for the deploy", "help", "お世話になっております。デプロイの件", "hello world program in rust",
    "ok", "morning standup notes please",
]  # fmt: skip


@pytest.mark.parametrize("text", PLEASANTRIES)
def test_greetings_and_thanks(text: str) -> None:
    assert is_pleasantry(text)


@pytest.mark.parametrize("text", REQUESTS)
def test_what_asks_for_something_is_no_pleasantry(text: str) -> None:
    assert not is_pleasantry(text)


def test_threads_do_not_take_each_others_words() -> None:
    words = [f"{start}{end}" for start in ("walk", "connect", "plan", "migrat", "berät") for end in ENDINGS]
    alone = [_stem.__wrapped__(word) for word in words]
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            together = list(threads.map(lambda _: [_stem.__wrapped__(word) for word in words], range(40)))
    finally:
        sys.setswitchinterval(switching)
    assert all(found == alone for found in together)


_WORDS = st.text(st.sampled_from("abstnT1Zü٣²_'’.-/:@#V"), max_size=12)
_KNOWN = (
    "don't",
    "getUserName",
    "v2.3",
    "OPS-896",
    "2026-04-06",
    "14:30",
    "foo_bar's",
    "ana’s",
    "isn’t",
    "decisions",
    "K8S",
    "whos",
)


def _of_any_word(token: str) -> tuple[str, ...]:
    """The terms of a word or identifier by the rules alone, without a shorter way for any."""
    token = rules._TAIL.sub("", token.strip("_").rstrip("."))
    folded = fold(token)
    if rules._NUMBER.fullmatch(folded):
        return rules._number_terms(folded)
    if folded.endswith(("n't", "n’t")):
        return ()
    humps = rules._HUMP.findall(token) if rules._CAMEL.fullmatch(token) else [token]
    parts = [fold(part) for hump in humps for part in rules._PART.findall(hump.replace("_", " "))]
    if parts == [folded]:
        return tuple(filter(None, map(_stem, parts)))
    if folded[:1] == "v" and rules._NUMBER.fullmatch(folded[1:]):
        return (folded, folded[1:])
    return tuple(dict.fromkeys([folded, *filter(None, map(_stem, parts))])) if folded else ()


@given(_WORDS | st.sampled_from(_KNOWN) | st.text(st.characters(exclude_categories=["Z", "C"]), max_size=8))
@settings(max_examples=scale(20_000), deadline=None)
def test_a_shorter_way_yields_the_same(token: str) -> None:
    assert _word_terms(token) == _of_any_word(token)


@given(st.text() | st.text(st.sampled_from("a…ﬁ\u00ad\u200bＡ½é")))
def test_what_is_visible_is_told_the_same_way_of_every_text(text: str) -> None:
    assert visible(text) == _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))


def test_what_was_forgotten_is_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"the queue{number} of OPS-{number} is v{number}.0, it's 14:{number}" for number in range(60)]
    before = [terms(text) for text in texts]
    rules._TOKENS.cache_clear()
    monkeypatch.setattr(rules, "_REMEMBERED", 5)
    assert [terms(text) for text in texts] == before
    assert len(rules._TOKENS) <= 5


@given(st.text(st.sampled_from("ab1Zü.,:/'’-_@# \t\u3000\u00a8\u00ad\n\x1c٣"), max_size=30))
@settings(max_examples=scale(2000), deadline=None)
def test_no_token_goes_over_a_blank(text: str) -> None:
    whole: list[str] = []
    _add(whole, _without_commas(visible(text)))
    assert terms(text) == tuple(whole)
