"""Is a message that was said to remem a question, and what is it about? Pure.

What somebody asked remem is no memory: found later, the question would stand above its answer. People leave the
question mark out (in a DM nearly always), so the words tell as well. A statement that begins with a question word
("when a deploy fails we roll back", "what we decided: …") is none.

What a question is about are its words without those that stand in questions about anything: who asks for what
(who, wann, 为什么), and general verbs of asking and deciding (choose, entschieden, 决定). They help to rank, but an
answer that shares nothing else with the question answers another one.
"""

from __future__ import annotations

import re
from functools import cache

from memory_core.script import is_paired
from memory_core.terms import asked, terms

_TO_US = re.compile(r"^(?:\s*@\S+[\s,:，：]*)+")
_NO_WORD = re.compile(r"[\W_]*")
_IS = (
    r"(?:is|are|was|were|do|does|did|will|would|can|could|should|shall|may|has|have|had|isn['’]?t|aren['’]?t"
    r"|doesn['’]?t|don['’]?t|didn['’]?t)\b"
)
_WORDS = (
    rf"(?:who|what|which|whose|where|when|why|how)(?:['’]?s\b|['’]?re\b|(?!\s+(?:we|i|you|he|she|they|it|to|the|a|an)\b)"
    rf"(?:\s+[\w'’.-]+){{0,3}}?\s+{_IS})"
    rf"|(?:who|which)\s+(?!of\b)\w+(?:\s+\w+){{0,6}}$"
    rf"|(?!do\s+(?:it|the|this|that|our|my)\b){_IS}\s+(?:we|i|you|he|she|they|it|there|the|this|that|our|my|any|anyone|anybody|somebody|someone)\b"
    r"|(?:please\s+)?(?:tell|show|remind)\s+(?:me|us)\b|(?:any(?:one|body)?\s+)?(?:idea|know)s?\s+(?:who|what|where|when|why|how)\b"
    r"|(?:wer|was|wann|wo|warum|wieso|wie|welche[rsn]?)\s+(?:\w+\s+){0,2}?(?:ist|sind|war|waren|hat|haben|wird|werden|kann|machen|nutzen)\b"
)
_CHINESE = (
    r"(?:[吗嘛呢]|什么|什麼|谁|誰|哪[里裡个個些儿兒天]?|多少|几点|幾點|何时|怎么样|怎麼樣|为什么|為什麼)[。.!！~\s]*$"
)
_CHINESE_START = r"(?:请问|請問|什么时候|什麼時候|为什么|為什麼|怎么|怎麼|谁[是在]|誰[是在]|哪[个個里裡])"
_JAPANESE = (
    r"(?:です|ます|でした|ました|ません|でしょう|の|だっけ)?か[。.!！\s]*$|"
    r"(?:だっけ|教えて(?:ください|下さい)?)[。.!！\s]*$"
)
_KOREAN = r"(?:나요|까요|니까|인가요|뭐야|뭐예요|무엇인가|언제야|어디야|알려\s?줘|알려\s?주세요)[.!~\s]*$"
_LONGEST = 200
"""What is longer tells something, whatever it begins with."""
_GENERAL = """
who whom whose what when where why how which long many much often anybody anyone anything somebody someone something
everybody everyone everything because reason between after before during regarding concerning
decide decided decision choose pick picked select selected settle settled conclude agree agreed use used using adopt
take do get make go come happen happened say tell talk talked discuss discussed speak spoke mention mentioned know
remember recall mean think explain ask asked give show list want need again ever exactly currently still yet already
wer wen wem wessen was wann wo woher wohin warum wieso weshalb wozu womit wie viel viele oft lange
mein meine meinen meinem meiner dein deine deinen unser unsere unseren euer eure über um nach bei aus wegen gegen seit
hatte hatten hast habt sein war waren wurde wurden man denn eigentlich nochmal nicht dass daß etwas jemand
entscheiden entschieden entscheidung beschließen beschlossen beschluss wählen gewählt ausgewählt nehmen genommen
nutzen nutzt benutzen benutzt verwenden verwendet einigen geeinigt sagen gesagt sagte erzählen erzählt besprechen
besprochen wissen weißt weiß weisst erinnern erinnerst machen macht gemacht tun getan geben gibt zeig zeige
"""
_GENERAL_RUNS = re.compile(
    r"(?:为什么|為什麼|为何|為何|为啥|什么时候|什麼時候|什么时间|何时|何時|几时|什么|什麼|怎么样|怎麼樣|怎么|怎麼|如何|"
    r"哪里|哪裡|哪儿|在哪|哪个|哪個|哪些|哪天|多少|多久|几点|幾點|几岁|多大)(?:我们|我們|咱们|要|会|會)?(?:用(?!户|戶))?|"
    r"谁(?=负|是|在|来|會|会)|(?:选择|選擇|选用|選用|使用|采用|採用|决定|決定|讨论|討論|说过|說過|知道|告诉|告訴|记得|記得|"
    r"商量|约定|定下|选定|選定)(?:了|过|過|的|用)?"
)


def is_question(text: str) -> bool:
    """Does it ask, with or without a question mark?"""
    said = _TO_US.sub("", text).strip()
    mark = max(said.rfind("?"), said.rfind("？"))
    if mark >= 0 and _NO_WORD.fullmatch(said, mark):  # from the last mark on only: a search would try each of many
        return True
    if len(said) > _LONGEST or "\n" in said:
        return False
    words, chinese_start, *ends = _forms()
    whole = words.match(said) is not None and not re.search(r"[.:;!]\s+\S", said)
    if whole or said.isascii():
        return whole
    # All other forms are East Asian.
    return any(end.search(said) for end in ends) or bool(chinese_start.match(said))


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    """Compiled (some milliseconds) with the first message without a mark; who only reads pages needs none of them."""
    return (
        re.compile(_WORDS, re.IGNORECASE),
        re.compile(_CHINESE_START),
        *map(re.compile, (_CHINESE, _JAPANESE, _KOREAN)),
    )


def about(text: str) -> tuple[str, ...]:
    """The different terms that say what a question is about; all of its terms where it has only general ones."""
    return particular(text) or tuple(dict.fromkeys(asked(text)))


def particular(text: str) -> tuple[str, ...]:
    """The different terms of a question that are no general ones; maybe none."""
    plain = _GENERAL_RUNS.sub(" ", text) if is_paired(text) else text
    return tuple(dict.fromkeys(term for term in asked(plain) if term not in _general()))


@cache
def _general() -> frozenset[str]:
    return frozenset(terms(_GENERAL))
