"""Masking: nothing of a secret stays, nothing else goes, twice is once, and it is quick."""

from __future__ import annotations

import asyncio
import random
import string
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.redact.mask import load, mask
from tests.memory_core.secrets_in_chat import NEGATIVES, PASSWORDS, PEM_BODY, POSITIVES, TOKENS, Planted
from tests.scale import scale


def test_the_labelled_set_is_large() -> None:
    assert len(POSITIVES) >= 60
    assert len({planted.kind for planted in POSITIVES}) >= 22
    assert len(NEGATIVES) >= 60


@pytest.mark.parametrize("planted", POSITIVES, ids=lambda planted: planted.kind)
def test_nothing_of_a_secret_stays(planted: Planted) -> None:
    masked = mask(planted.text)
    assert masked.kinds
    assert planted.secret not in masked.text
    assert all(f"[secret: {kind}]" in masked.text for kind in masked.kinds)
    longest = max(planted.secret.split(), key=len)
    assert longest[2:-2] not in masked.text or len(longest) < 8
    again = mask(masked.text)
    assert (again.text, again.kinds) == (masked.text, ())


@pytest.mark.parametrize("line", NEGATIVES)
def test_what_is_no_secret_stays(line: str) -> None:
    masked = mask(line)
    assert (masked.text, masked.kinds) == (line, ())


def test_case_124_none_of_them_is_left() -> None:
    slack, aws = TOKENS["slack bot"], TOKENS["aws key"]
    lines = [
        "export DB_PASS=hunter2-prod",
        slack,
        aws,
        f"-----BEGIN RSA PRIVATE KEY-----\n{PEM_BODY}\n-----END RSA PRIVATE KEY-----",
        "https://u:pw@host",
    ]
    masked = mask("\n".join(lines))
    for secret in ("hunter2", slack, aws, PEM_BODY[:20], PEM_BODY[-20:], "u:pw", "pw@"):
        assert secret not in masked.text
    assert masked.kinds == ("password", "slack token", "aws key", "private key", "url password")
    assert masked.text.startswith("export DB_PASS=[secret: password]\n[secret: slack token]\n[secret: aws key]\n")


@pytest.mark.parametrize(
    "text",
    [
        "| user | password |\n|---|---|\n| root | hunter2prod9 |\n| ana | `swordfish-9x` |",
        "user | db_password | note\n--- | --- | ---\nroot | hunter2prod9 | swordfish-9x",
        "| API key | for |\n|:-:|---|\n| hunter2prod9 | swordfish |".replace("swordfish", "staging"),
        "<password>hunter2prod9</password>",
        '<db:password type="plain">\n  hunter2prod9\n</db:password>',
        "<apiKey>hunter2prod9</apiKey>",
        "password -> hunter2prod9",
        "password → `hunter2prod9`",
    ],
)
def test_case_124_markup_gives_a_secret_away(text: str) -> None:
    masked = mask(text)
    assert masked.kinds
    assert "hunter2prod9" not in masked.text
    assert "root" in masked.text or "root" not in text
    assert mask(masked.text).text == masked.text


@pytest.mark.parametrize(
    "text",
    [
        "| setting | password policy |\n|---|---|\n| length | 12 characters |",
        "| user | password |\n|---|---|\n| root | unknown |\n| ana | $DB_PASS |\n| bo | *** |",
        "| user | status |\n|---|---|\n| root | hunter2prod9 |",
        "<password>${DB_PASS}</password> and <token>required</token>",
        "def password() -> str: a token -> string mapping, secret -> vault",
        "password | grep root",
    ],
)
def test_case_126_markup_without_a_secret_stays(text: str) -> None:
    assert mask(text).text == text


def test_case_126_words_ids_and_hashes_stay() -> None:
    line = (
        "keyboard monkey tokenized, commit 9f2c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b1c, run "
        "3f2504e0-4f89-41d3-9a0c-0305e82c3301, message 1189999123456789012, callFunctionCheckIfDataAlreadyExists"
    )
    assert mask(line).text == line


@pytest.mark.parametrize(
    "hide",
    [
        lambda token: "\u200b".join(token),
        lambda token: token[:7] + "\u2060\ufeff" + token[7:],
        lambda token: "".join(chr(ord(sign) + 0xFEE0) for sign in token),
        lambda token: f"\u202e{token}\u202c",
    ],
    ids=["zero width", "word joiner", "full width", "direction"],
)
def test_hidden_keys_are_found(hide: object) -> None:
    assert callable(hide)
    token = TOKENS["aws key"]
    masked = mask(f"look: {hide(token)} there")
    assert masked.kinds == ("aws key",)
    assert token[8:12] not in masked.text
    assert hide(token[8:12]) not in masked.text
    assert masked.text.startswith("look: ")
    assert masked.text.endswith(" there")


SECRETS = st.sampled_from(sorted(TOKENS.values()))
_SAID = (
    "password={}",
    "export DB_PASS={}",
    "the password is {}",
    "密码是{}",
    "das Passwort lautet {}",
    "パスワードは{}です",
    "https://ana:{}@db/x",
)
_APART = st.sampled_from((" ", "\n", "，", "。", "（", "🎉", "\u3000"))


@given(st.text(max_size=80), SECRETS, st.text(max_size=80), _APART, _APART)
@settings(max_examples=scale(4000), deadline=None)
def test_a_planted_token_never_survives(before: str, token: str, after: str, left: str, right: str) -> None:
    masked = mask(f"{before}{left}{token}{right}{after}")
    assert token not in masked.text
    assert masked.kinds


@given(st.text(max_size=80), st.sampled_from(_SAID), st.sampled_from(PASSWORDS), st.text(max_size=80))
@settings(max_examples=scale(4000), deadline=None)
def test_a_planted_password_never_survives(before: str, said: str, password: str, after: str) -> None:
    masked = mask(f"{before}\n{said.format(password)}\n{after}")
    assert password not in masked.text


_PIECES = st.sampled_from(
    [
        *TOKENS.values(),
        *(said.format(password) for said in _SAID for password in PASSWORDS[:2]),
        *NEGATIVES[:40],
        "[secret: password]",
        "[secret: ",
        "password",
        " is ",
        "=",
        ": ",
        '"',
        "`",
        "\u200b",
        "\x00",
        "\ud800",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
    ]
)


@given(st.lists(st.one_of(_PIECES, st.text(max_size=6)), max_size=12))
@settings(max_examples=scale(6000), deadline=None)
def test_masking_twice_is_masking_once_and_never_raises(pieces: list[str]) -> None:
    masked = mask("".join(pieces))
    again = mask(masked.text)
    assert (again.text, again.kinds) == (masked.text, ())
    if not masked.kinds:
        assert masked.text == "".join(pieces)


def _hostile() -> dict[str, str]:
    dice = random.Random(3)
    pieces = [
        *(
            "x",
            "password=",
            "AKIA",
            "a_",
            "eyJa.",
            "http://a:",
            "curl -u ",
            "mysql -p",
            "sk-",
            'password="',
            "密码是的",
        ),
        *(
            "the password is ",
            "[secret: password]",
            "-----BEGIN PRIVATE KEY-----",
            "a\u200b",
            "password for ",
            "M",
            "1:",
        ),
        *(
            "seed phrase abc ",
            "legal ",
            "Passwort für ",
            "ａ",
            "bearer a",
            "use a as ",
            "creds: a/",
            "\n",
            " ",
            "pin is ",
        ),
        *("change the ", "password changed from a "),
    ]
    texts = {piece: piece * (40_000 // len(piece)) for piece in pieces}
    texts["random"] = "".join(dice.choices(string.printable, k=40_000))
    texts["key lines"] = ("A" * 64 + "\n") * 600 + "-----END PRIVATE KEY-----"
    return texts


@pytest.mark.parametrize("name", _hostile())
def test_a_long_message_is_quick(name: str) -> None:
    text = _hostile()[name]
    load()
    began = time.process_time()
    mask(text)
    assert time.process_time() - began < 4  # a bound that only backtracking breaks: it takes 0.3 s at most


def test_every_pass_finding_more_ends_in_a_mark_for_all() -> None:
    aws = TOKENS["aws key"]
    chain = "".join(f"{aws[:4]}{number:016d}" for number in range(60))
    masked = mask(f"{aws}_{chain} {aws}")
    assert aws not in masked.text
    assert mask(masked.text).kinds == ()


_WITHOUT = """
import sys
sys.modules["betterleaks"] = None
from memory_core.redact.mask import load, mask
print(load())
print(mask("password=hunter2-prod").text)
"""


def test_without_the_scanner_our_own_readers_work() -> None:
    done = subprocess.run([sys.executable, "-c", _WITHOUT], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0].startswith("betterleaks cannot be loaded")
    assert done.stdout.splitlines()[1] == "password=[secret: password]"


@pytest.mark.asyncio
async def test_the_scanner_can_be_loaded_off_the_loop() -> None:
    assert await asyncio.to_thread(load) == ""
    assert mask("password=hunter2-prod").text == "password=[secret: password]"
