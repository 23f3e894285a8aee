"""Secrets that are known by their shape: keys and tokens with a form of their own, blocks, URLs.

Each rule masks the whole token, not its prefix. Shapes come from the vendors' documents and from what secret scanners
agree on. Every repetition is bounded or starts at a literal, so that a message of 40,000 characters is quick.
Word boundaries are ASCII ones: between Chinese letters and a key there is no space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_WORD = r"[A-Za-z0-9_-]"


@dataclass(frozen=True, slots=True)
class Span:
    """A secret in a text: its place and its kind."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class _Rule:
    """`pattern` is looked for only in texts that hold one of `needles`; group `secret`, or all of it, is masked."""

    kind: str
    needles: tuple[str, ...]
    pattern: re.Pattern[str]
    group: int | str


def _rule(kind: str, needles: str, pattern: str) -> _Rule:
    compiled = re.compile(pattern)
    return _Rule(kind, tuple(needles.split()), compiled, "secret" if "secret" in compiled.groupindex else 0)


_BEFORE_AT = r"[^\s<>{}\"'\x00]{1,300})@"

_RULES = (
    _rule("aws key", "AKIA ASIA ABIA ACCA", r"(?<![A-Z0-9])A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Z0-9])"),
    _rule("github token", "gh github_pat_", r"gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}"),
    _rule("gitlab token", "gl", r"gl(?:pat|ptt|dt|rt|soat|cbt|agent|ft|imt|oas)-[A-Za-z0-9_.-]{16,300}"),
    _rule(
        "slack token",
        "xox xapp-",
        r"xox[abeoprsd](?:\.xox[bp])?-[A-Za-z0-9-]{10,250}|xapp-[0-9]-[A-Za-z0-9-]{10,250}",
    ),
    _rule(
        "slack webhook", "hooks.slack", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{16,150}"
    ),
    _rule("discord token", ".", rf"(?<!{_WORD})[MNO]{_WORD}{{23,28}}\.{_WORD}{{6}}\.{_WORD}{{27,40}}"),
    _rule(
        "discord webhook",
        "/webhooks/",
        rf"discord(?:app)?\.com/api/(?:v\d{{1,2}}/)?webhooks/\d{{16,20}}/{_WORD}{{40,100}}",
    ),
    _rule("telegram token", ":", rf"(?<![A-Za-z0-9])[0-9]{{8,10}}:{_WORD}{{35}}(?!{_WORD})"),
    _rule("anthropic key", "sk-ant-", rf"sk-ant-{_WORD}{{16,250}}"),
    _rule("openai key", "sk-", rf"sk-(?:proj|svcacct|admin|or)-{_WORD}{{16,250}}"),
    # Without a second prefix only a long run of letters and digits tells a key from a name such as sk-learn-notes.
    _rule("api key", "sk-", rf"(?<!{_WORD})sk-(?=[A-Za-z]{{0,40}}[0-9])[A-Za-z0-9]{{20,200}}"),
    _rule("google key", "AIza GOCSPX- ya29.", rf"AIza{_WORD}{{35}}|GOCSPX-{_WORD}{{20,40}}|ya29\.{_WORD}{{20,500}}"),
    _rule("stripe key", "k_live_ k_test_", rf"(?<!{_WORD})[rs]k_(?:live|test)_[A-Za-z0-9]{{10,250}}"),
    _rule("stripe key", "whsec_", r"whsec_[A-Za-z0-9+/=]{20,100}"),
    _rule("jwt", "eyJ", rf"(?<!{_WORD})eyJ{_WORD}{{8,4000}}\.eyJ{_WORD}{{4,8000}}\.{_WORD}{{8,2000}}"),
    _rule("npm token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _rule("pypi token", "pypi-", rf"pypi-AgE{_WORD}{{40,300}}"),
    _rule("sendgrid key", "SG.", rf"SG\.{_WORD}{{16,32}}\.{_WORD}{{16,64}}"),
    _rule("twilio key", "SK", r"(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    _rule("mailgun key", "key-", r"(?<![A-Za-z0-9-])key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    _rule("hugging face token", "hf_", r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,60}"),
    _rule("digitalocean token", "_v1_", r"do[oprt]_v1_[a-f0-9]{64}"),
    _rule("shopify token", "shp", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _rule("linear key", "lin_api_", r"lin_api_[A-Za-z0-9]{32,60}"),
    _rule("notion token", "ntn_", r"ntn_[A-Za-z0-9]{40,60}"),
    _rule("grafana token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    _rule("age key", "AGE-SECRET", r"AGE-SECRET-KEY-1[A-Z0-9]{50,70}"),
    _rule(
        "azure key",
        "AccessKey= AccountKey=",
        r"(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,100}={0,2})",
    ),
    _rule(
        "bearer token",
        "earer EARER",
        r"(?i:bearer)[ \t]{1,3}(?P<secret>(?=[A-Za-z_.~+/-]{0,400}[0-9])[A-Za-z0-9_.~+/-]{16,2000}={0,2})",
    ),
    _rule(
        "basic credentials",
        "asic ASIC",
        r"(?i:authorization)[\"']?[:=][ \t]{0,3}[\"']?(?i:basic)[ \t]{1,3}(?P<secret>[A-Za-z0-9+/]{8,400}={0,2})",
    ),
    _rule(
        "command password",
        "curl wget http",
        r"(?:curl|wget|http)[ \t][^\n]{0,200}?(?<=[ \t])(?:-u|--user|--auth)[ \t=]{0,2}[\"']?"
        r"(?P<secret>[^\s\"':\x00]{1,80}:[^\s\"'\x00]{1,200})",
    ),
    _rule(
        "command password",
        "mysql mariadb sshpass",
        r"(?:mysql|mysqldump|mariadb|sshpass)[ \t][^\n]{0,200}?(?<=[ \t])-p[ \t]?[\"']?"
        r"(?P<secret>(?=[^\s\"']{0,200}[^A-Za-z\s])[^\s\"'\x00-][^\s\"'\x00]{2,200})",
    ),
    _rule(
        "command password",
        "-pass",
        r"(?<=[ \t])--?(?:password|passwd|pass)[ \t]{1,3}[\"']?(?P<secret>(?![-<$\[{])[^\s\"'\x00]{3,200})",
    ),
    _rule(
        "url password",
        "://",
        r"(?<![A-Za-z])(?i:https?|ftps?|sftp|ssh|git|wss?)(?:\+[a-z]{1,8})?://"
        r"(?P<secret>[^\s/?#@:<>\[\]{}$\"'\x00]{0,100}:[^\s/?#<>{}\"'\x00]{1,300})@",
    ),
    # In a database's URL people leave slashes in the password.
    _rule(
        "url password",
        "://",
        r"(?<![A-Za-z])(?i:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|clickhouse|nats|ldaps?|smtps?|imaps?)"
        rf"(?:\+[a-z]{{1,12}})?://(?P<secret>[^\s@:/<>\[\]{{}}$\"'\x00]{{0,100}}:{_BEFORE_AT}",
    ),
)

_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINE = re.compile(r"[ \t>]*[A-Za-z0-9+/=]{16,80}[ \t\r]*")


def token_spans(text: str) -> Iterator[Span]:
    """Every secret of a known shape in `text`."""
    for rule in _RULES:
        if any(needle in text for needle in rule.needles):
            for found in rule.pattern.finditer(text):
                yield Span(found.start(rule.group), found.end(rule.group), rule.kind)
    yield from _key_blocks(text)


def _key_blocks(text: str) -> Iterator[Span]:
    """Private keys, whole or cut by a platform: from BEGIN to END or the text's end, or the lines before an END."""
    if "PRIVATE KEY" not in text:
        return
    place = 0
    while begin := _BEGIN.search(text, place):
        end = _END.search(text, begin.end())
        place = end.end() if end else len(text)
        yield Span(begin.start(), place, "private key")
    end = _END.search(text)
    if end is not None and not _BEGIN.search(text, 0, end.start()):
        yield Span(_start_of_key(text, end.start()), end.end(), "private key")


def _start_of_key(text: str, end: int) -> int:
    """Where the base64 lines before `end` begin."""
    start = end
    while start > 0:
        line = text.rfind("\n", 0, start - 1) + 1
        if not _KEY_LINE.fullmatch(text[line:start].removesuffix("\n")):
            break
        start = line
    return start
