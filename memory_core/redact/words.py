"""Secrets that are known by the words around them: `password=…`, "the password is …", 密码是…, Passwort lautet….

    key = value     a name that says secret, then = or :, then the value (unquoted too)
    prose           a word for secret, maybe "for the staging server", then is / 是 / lautet / は, then the value

What follows is masked only if it can be a secret: quoted, or with a digit or sign in it, or (for passwords) a word
that ends the sentence. Words that people say about passwords ("is wrong", "is required", "was rotated"), technical
terms ("is base64", "8 characters") and placeholders ("$DB_PASS", "<token>") are not secrets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TypeAlias

from memory_core.redact.tokens import Span

_Judge: TypeAlias = Callable[[str, re.Match[str], tuple[int, int], str, bool], bool]

# Names of secrets: what a person types, where plain words count too, and what a machine made.
_TYPED = r"pass ?-?_?(?:words?|phrases?|codes?)|passwd|pwd|passw(?:or)?d|pw"
_MADE = (
    r"(?:api|secret|access|private|auth|encryption|signing|master|service|account|bot|client|refresh|session|webhook)"
    r"[ _-]?(?:key|token|secret)s?|api[ _-]?keys?|secret|token|credentials?"
)
# `token_count` and `password_policy` are no secrets.
_META = (
    r"(?![ _-]?(?:counts?|length|len|limits?|types?|policy|policies|names?|ids?|expir\w{1,6}|ttl|urls?|uris?|paths?|"
    r"files?|fields?|reset|hints?|managers?|min|max|size|usage|budget|required|labels?|status|rotation|strength|"
    r"prompt|box)\b)"
)
NAMED = rf"(?:{_TYPED}|{_MADE})"
"""The name of a secret, as a regular expression without groups; its letters in any case."""
_LETTERS = r"\u00a1-\u00aa\u00ac-\u00ba\u00bc-\u2012\u2030-\u2fff"  # of any alphabet, not of CJK, no quotes
_VALUE = (
    r"(?P<quote>[\"'`*]{1,3}|[“„«「『‘])?"
    rf"(?P<secret>(?(quote)[^\n\"'`*”“»」』’\x00]{{1,200}}|[!-~{_LETTERS}]{{1,400}}))"
)
_OF = r"(?: (?:for|to|of|on|in|at|from) [^\n.;:!?\x00]{1,50}?)?"

_NEEDLES = ("pass", "pwd", "passw", "pw", "key", "token", "secret", "cred", "login", "log in", "log-in")
_KEY_VALUE = re.compile(
    rf"(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=PASSW|SECRET|TOKEN))(?i:(?P<typed>{_TYPED}|pass)|(?P<made>{_MADE})){_META}"
    rf"(?:[_-][A-Za-z0-9]{{1,15}}){{0,2}}[\"'`*]{{0,3}}[ \t]{{0,3}}(?P<sign>:=|=>|[=:](?![=/]))[ \t]{{0,3}}{_VALUE}",
)
_ENGLISH = re.compile(
    rf"(?<![A-Za-z])(?i:(?P<typed>{_TYPED})|(?P<made>{_MADE})){_META}(?i:{_OF}"
    r"(?: (?:(?:is|was|has been|has)?(?: now)? ?(?:changed|set|reset|updated|switched) to|is|are|was|will be)|['’]s)"
    r"(?: ?(?:now|still|currently|simply|just|called|probably|literally|again))?)"
    rf"[ \t]?:?[ \t\n]{{1,2}}{_VALUE}",
)
_CHANGED = re.compile(
    r"(?<![A-Za-z])(?i:chang|set|reset|updat|switch|rotat)[a-z]{0,5} [^\n.;:!?\x00]{0,40}?(?<![A-Za-z])"
    rf"(?i:(?P<typed>{_TYPED})|(?P<made>{_MADE})){_META}(?i:{_OF}) (?i:to)[ \t]?:?[ \t]{{1,2}}{_VALUE}"
)
_FROM_TO = re.compile(
    rf"(?<![A-Za-z])(?i:(?P<typed>{_TYPED})|(?P<made>{_MADE}))[^\n.;:!?\x00]{{0,30}}? (?i:from)[ \t]"
    rf"{_VALUE}(?=[ \t]to[ \t])"
    r"[ \t]to[ \t]{1,2}(?P<quote2>[\"'`*]{1,3})?(?P<secret2>[^\s\"'`*\x00]{2,200})"
)
# "password hunter22" at the end of a line, or under "password:", maybe in a code block.
_BARE = re.compile(
    rf"(?<![A-Za-z])(?i:(?P<typed>{_TYPED})){_META}"
    rf"(?:[ \t]{{1,3}}|(?i:[ \t]{{0,2}}(?:is)?[ \t]?:?)[ \t]{{0,3}}\n{{1,2}}(?:`{{3}}\w{{0,10}}\n)?)"
    rf"(?P<quote>[\"'`*]{{1,3}})?(?P<secret>[!-~{_LETTERS}]{{4,200}})(?=[ \t]*(?:\n|$))"
)
_PIN = re.compile(
    r"(?<![A-Za-z])(?i:pin|otp)(?i:[ -]?code)?(?i:[ \t](?:is|ist|lautet|was)(?:[ \t]now)?[ \t]?:?|[ \t]?[:=：])"
    r"[ \t]{0,2}[\"'`*]{0,2}(?P<secret>[0-9]{4,8})(?![0-9.:/])"
)
_AS = re.compile(
    rf"(?<![A-Za-z])(?i:use|using|with|try|enter|type)[ \t]{{1,2}}{_VALUE}[ \t]{{1,2}}(?i:as|for) "
    rf"(?i:the |a |your |my |our )?(?:[\w-]{{1,20}} )?(?i:(?P<typed>{_TYPED})|(?P<made>{_MADE}))(?![A-Za-z])"
)
_LOGIN = re.compile(
    r"(?<![A-Za-z])(?i:creds?|credentials|log ?-?in|zugangsdaten|账号密码|帳號密碼)(?i: (?:are|is|sind))?"
    r"[ \t]{0,2}[:：=]?[ \t]{1,2}[^\s:/|,\x00]{1,60}[ \t]{0,2}[:/|][ \t]{0,2}"
    r"(?P<typed>)(?P<quote>[\"'`*]{1,3})?(?P<secret>[!-~]{3,200})"
)
_GERMAN_NEEDLES = ("wort", "schl", "code", "zugriffs", "geheimnis", "zugangsdaten")
_GERMAN = re.compile(
    r"(?i:(?P<typed>passwort|kennwort|zugangscode)|(?P<made>zugangsschlüssel|api-?schlüssel|geheimnis|zugriffstoken))"
    r"(?i:(?: (?:für|fuer|von|zu|zum|zur|vom|auf|des|der|im|in) [^\n.;:!?\x00]{1,50}?)?"
    r"(?: (?:ist|lautet|war|heißt|heisst|wäre|wurde auf|habe ich auf|geändert auf)"
    rf"(?: (?:jetzt|nun|aktuell|immer noch|noch|wieder))?|[ \t]?[:=]))[ \t]?:?[ \t\n]{{1,2}}{_VALUE}"
)
_CJK = re.compile(
    r"(?P<typed>密码|密碼|口令|暗号|暗號|パスワード|パスコード|暗証番号|合言葉|비밀번호|암호)|"
    r"(?P<made>密钥|密鑰|令牌|秘钥|秘密鍵|トークン|キー|토큰)"
)
_CJK_LINK = re.compile(
    r"[^\n\x00-\x1f\x21-\x7f，。；、！？]{0,14}?(?:是|为|為|成|は|が|を|는|은|가|：|:|=|＝)[ \t]{0,2}[:：]?"
    rf"[ \t]{{0,2}}{_VALUE}|(?P<bare>)[ \t]{{1,2}}(?P<plain>[!-~]{{4,200}})"
)
_OTHER_NEEDLES = ("mot de", "contras", "senha", "парол", "wachtw", "has", "lösen", "clé", "clave")
_OTHER = re.compile(
    r"(?<!\w)(?i:(?P<typed>mot de passe|contraseña|senha|пароль|wachtwoord|hasło|lösenord)|"
    r"(?P<made>clé secrète|clave secreta))"
    r"(?:(?i: (?:de|du|del|da|do|pour|para|от|voor) [^\n.;:!?\x00]{1,50}?)?(?: (?:est|es|é|is|to|är)|[ \t]?[:=—–-]))"
    rf"[ \t]?:?[ \t]{{0,2}}{_VALUE}"
)
_SEED_NEEDLES = ("seed", "recovery", "mnemonic", "backup", "助记词", "恢复短语")
_SEED = re.compile(
    r"(?i:(?:seed|recovery|mnemonic|backup)(?: (?:phrase|words))?|助记词|恢复短语)(?i: is| are| 是)?"
    r"[ \t]{0,2}[:：是]?[ \t\n]{0,2}(?P<secret>(?:[a-z]{3,8} ){11,23}[a-z]{3,8})(?![a-z])"
)

_WORDS = """
a about above access again all also always an ancient and any anyone as async at await awful back bad be because
below better both broken but by can case-sensitive changed clear clever common complex cool correct crazy dead
different does done down due dumb easy else empty enough enum everywhere exposed fake false fine first for form
free from function garbage gone good great guess hard hash here hidden history his horrible how if in incorrect
insane int integer invalid it its just kept known lambda lame last late leak legit less like live local long lost
mandatory mine missing more my needed never new nice nil no none nope not nothing now null number object off ok
okay old on only open optional or our ours out over own password passwords personal plain plaintext please poor
private public random read-only ready real required reset right rotten rubbish safe same sane secret secrets
secure see sent set shared short silly simple so some something somewhere soon stale still stolen str string
strong stuff stupid such super sure terrible that the their theirs them then there they this to toast todo token
too true unclear unique unknown unsafe up us useless valid very via void weak what when where which who why with
without wrong yes yet you your yours abgelaufen alt auf bekannt da das dasselbe der die dort ein eine einfach
erforderlich falsch geheim gleich gültig hier im kurz lang leer neu nicht noch nötig oben richtig sicher schon
schwach stark unbekannt ungültig unsicher unten weg wie zu zum
"""  # what people say about a password, and what stands in its place in code
_PLAIN_WORDS = frozenset(_WORDS.split())
_PLAIN_END = re.compile(
    r"[a-zäöüß'’-]+(?:ed|ing|able|ible|ive|ory|al|ous|less|ful|ly|ent|ant|ary|ten|ished|n't|n’t|ic)"
)
_GERMAN_PARTICIPLE = re.compile(r"(?:ge|ver|be|ent|er|ab|an|auf|aus|ein|zurück|um|über)[a-zäöüß]{2,20}(?:t|en)")
_TECHNICAL = re.compile(
    r"(?:v?\d{1,4}(?:\.\d{1,4}){1,3}|\d{1,3}|\d{4}-\d\d-\d\d|\d{1,2}:\d\d|"
    r"\d{1,6}[ -]?(?:bits?|char\w*|digits?|letters?|"
    r"words?|days?|hours?|h|minutes?|min|seconds?|s|ms|kb|weeks?|months?|years?|times?|x|%|am|pm|zeichen|stellig)|"
    r"base(?:32|58|64)|sha-?\d{1,3}|md5|hs256|rs256|aes-?\d{3}|oauth ?2(?:\.0)?|utf-?8|[2m]fa|p[0-4]|1password|"
    r"bcrypt|argon2(?:id)?|k8s|s3|ec2|i18n|x509)(?:-[a-z]{2,12})?",
    re.IGNORECASE,
)
_UNIT = re.compile(
    r"[ \t]{0,2}(?:bits?|chars?|characters?|digits?|letters?|words?|days?|hours?|minutes?|seconds?|weeks?|months?|"
    r"years?|times|long|old|zeichen|tage|stellen|tokens|位|个|個|天|年|月|日|小时|分|秒|字|次|种|文字|桁|本|자리)",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"[$<{%\[(].*|\*{2,}.*|x{3,}|\.{2,}.*|_{2,}|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|"
    r"(?:self|os|process|settings|config|env|args|secrets|vault)\..*|[A-Za-z_][\w.]{0,60}\(.*|"
    r"(?:your|my|the)[-_ ].*|https?://.*|@.*",
)
_ENDS = re.compile(r"[ \t]*(?:[.,;:!?)\"'`*”“»」』’。，！？です]|\n|$)")
_LINE_ENDS = re.compile(r"[ \t]*(?:\n|$)")
_TRAILING = ".,;:!?)]}>\"'`*"
_SIGNS = frozenset("0123456789!#$%&+/=@\\^_|~?")


def word_spans(text: str) -> Iterator[Span]:
    """Every secret in `text` that is given away by the words around it."""
    low = text.lower()
    if _holds(low, _NEEDLES):
        for found in _KEY_VALUE.finditer(text):
            yield from _judged(text, found, _is_value)
        for pattern in (_ENGLISH, _CHANGED, _AS, _LOGIN):
            yield from _said(pattern, text, _is_said)
        yield from _said(_BARE, text, _is_bare)
        yield from _from_to(text)
    if _holds(low, _GERMAN_NEEDLES):
        for pattern in (_GERMAN, _LOGIN):
            yield from _said(pattern, text, _is_said)
    if _holds(low, _OTHER_NEEDLES):
        yield from _said(_OTHER, text, _is_odd_or_quoted)
    if not text.isascii():
        for name in _CJK.finditer(text):
            link = _CJK_LINK.match(text, name.end())
            if link is not None:
                yield from _judged_cjk(text, name, link)
    if _holds(low, _SEED_NEEDLES):
        for found in _SEED.finditer(text):
            yield Span(*found.span("secret"), "seed phrase")
    if _holds(low, ("pin", "otp")):
        for found in _PIN.finditer(text):
            if not _UNIT.match(text, found.end()):
                yield Span(*found.span("secret"), "pin")


def _holds(low: str, needles: tuple[str, ...]) -> bool:
    return any(needle in low for needle in needles)


def _said(pattern: re.Pattern[str], text: str, judge: _Judge) -> Iterator[Span]:
    """Matches, the next looked for where the value begins: one sentence may name two."""
    place = 0
    while found := pattern.search(text, place):
        yield from _judged(text, found, judge)
        place = max(found.start("secret"), found.start() + 1)


def _from_to(text: str) -> Iterator[Span]:
    """Both words of "changed the password from … to …", if the new one looks like a secret."""
    for found in _FROM_TO.finditer(text):
        new = _trimmed(text, found, "secret2")
        if is_odd(text[slice(*new)]) and _may_be_secret(text, new, text[slice(*new)]):
            for span in (found.span("secret"), new):
                yield Span(*span, _kind(found["typed"] is not None))


def _judged_cjk(text: str, name: re.Match[str], link: re.Match[str]) -> Iterator[Span]:
    group = "plain" if link["bare"] is not None else "secret"
    span = _trimmed(text, link, group)
    said = text[span[0] : span[1]]
    typed = name["typed"] is not None
    if group == "plain":  # nothing but a blank between name and value: it must look like a secret by itself
        if is_odd(said) and any(sign.isalpha() for sign in said) and _may_be_secret(text, span, said):
            yield Span(*span, _kind(typed))
    elif _is_said(text, link, span, said, typed):
        yield Span(*span, _kind(typed))


def _judged(text: str, found: re.Match[str], judge: _Judge) -> Iterator[Span]:
    span = _trimmed(text, found, "secret")
    typed = found["typed"] is not None
    if judge(text, found, span, text[span[0] : span[1]], typed):
        yield Span(*span, _kind(typed))


def _kind(typed: bool) -> str:
    return "password" if typed else "key"


def _trimmed(text: str, found: re.Match[str], group: str) -> tuple[int, int]:
    """The value without the signs that end a sentence; a quoted one is whole."""
    start, end = found.span(group)
    if group == "secret" and found["quote"] is not None:
        return start, end
    while end - start > 1 and text[end - 1] in _TRAILING:
        end -= 1
    return start, end


def _may_be_secret(text: str, span: tuple[int, int], said: str) -> bool:
    """Neither a placeholder nor a technical term nor a count."""
    if _PLACEHOLDER.fullmatch(said) or _TECHNICAL.fullmatch(said) or said.lower() in _PLAIN_WORDS:
        return False
    if said.isdigit():
        return len(said) >= 4 and not _UNIT.match(text, span[1])
    return len(said) >= 2 and any(sign.isalnum() for sign in said)


def may_be_value(said: str) -> bool:
    """Can this value, which somebody else found, be a secret at all?"""
    return _may_be_secret(said, (0, len(said)), said) and not _is_plain_word(said)


def is_odd(said: str) -> bool:
    """Does the word hold a digit, a sign, or capitals in its middle?"""
    return any(sign in _SIGNS for sign in said) or any(
        before.islower() and after.isupper() for before, after in pairwise(said)
    )


def _is_plain_word(said: str) -> bool:
    low = said.lower()
    return bool(low in _PLAIN_WORDS or _PLAIN_END.fullmatch(low) or _GERMAN_PARTICIPLE.fullmatch(low))


def _is_value(text: str, found: re.Match[str], span: tuple[int, int], said: str, typed: bool) -> bool:
    """Of `name = value` and `name: value`."""
    if not _may_be_secret(text, span, said):
        return False
    if found["quote"] is not None:
        return len(said) >= 4 and not _is_plain_word(said) and (typed or " " not in said)
    if found["sign"] == ":" and not is_odd(said):
        # "password: swordfish" stands alone on its line; "password: ask ana" and "token: expired" are talk.
        return typed and not _is_plain_word(said) and bool(_LINE_ENDS.match(text, span[1]))
    if said.isdigit():
        return typed
    return is_odd(said) or (not _is_plain_word(said) and len(said) >= 4)


def _is_said(text: str, found: re.Match[str], span: tuple[int, int], said: str, typed: bool) -> bool:
    """Of "the password is …" and its like."""
    if not _may_be_secret(text, span, said) or (not typed and said.isdigit()):
        return False
    if found["quote"] is not None:
        return not _is_plain_word(said) and (typed or " " not in said)
    if is_odd(said):
        return True
    return typed and not _is_plain_word(said) and len(said) >= 4 and bool(_ENDS.match(text, span[1]))


def _is_odd_or_quoted(text: str, found: re.Match[str], span: tuple[int, int], said: str, typed: bool) -> bool:
    """Of languages whose plain words are not known here."""
    return _is_said(text, found, span, said, typed) and (found["quote"] is not None or is_odd(said))


def _is_bare(text: str, found: re.Match[str], span: tuple[int, int], said: str, typed: bool) -> bool:
    """Of a value with nothing but space between it and its name: it must look made."""
    return _may_be_secret(text, span, said) and any(map(str.isdigit, said)) and any(map(str.isalpha, said))
