"""Greetings, thanks and good-byes of many languages: messages that ask for no memory."""

from __future__ import annotations

import re
from functools import cache

from memory_core.script import LETTER, RUN, fold

# A pleasantry holds at least one word of the first list, and else only words of the second.
_GREETINGS = """
hi hii hiya hello hallo hey heya heyy yo howdy greetings morning gm gn goodnight goodbye bye cya ciao
welcome thanks thank thx thnx ty tysm tyvm cheers kudos congrats congratulations gracias merci danke
dankeschön dank bedankt obrigado obrigada grazie tak tack kiitos spasibo спасибо привет здравствуйте hola
salut bonjour bonsoir servus moin tschüss tschüs tschuess grüezi guten gute salam shalom namaste aloha nihao
arigato xiexie sorry γεια ευχαριστώ مرحبا شكرا नमस्ते धन्यवाद
"""
_FILLERS = """
a an the all and again there everyone everybody folks team guys people friend friends mate bot remem you u
so much many very lot lots ton million bunch for your that this help helping it was is really just ok okay k
great good nice cool perfect awesome amazing lovely day evening afternoon night weekend one to see soon
later tomorrow now how are doing going hope well wonderful advance in too my dear lol haha hehe yeah yep oh
ah wow y'all yall happy monday friday no problem worries back of course same have got it will do noted
understood roger copy alright sure schön schöne schönen schoenen vielen tausend morgen tag abend nacht
wochenende dir euch ihnen an alle zusammen sehr lieb auch mal bis bald später wiedersehen auf muchas buenos
buenas dias días tardes noches beaucoup à tous le monde große молодец большое вам всем
"""
_GREETING_RUNS = (
    r"你好|您好|大家好|各位好|哈[喽啰罗]|嗨|嘿|早上好|上午好|中午好|下午好|晚上好|早安|晚安|午安|早呀|再见|"
    r"拜拜|回头见|明天见|谢谢|多谢|感谢|谢[啦了]|辛苦|拜托了|新年快乐|节日快乐|周末愉快|生日快乐|恭喜|^早$|"
    r"(?<=大家)早|謝謝|多謝|感謝|こんにち[はわ]|こんばん[はわ]|おはよう(?:ございま[すー]+)?|"
    r"おやすみ(?:なさい)?|ありがとう(?:ございま(?:す|した))?|ありがと|どうも|おつかれ(?:さま)?|"
    r"お疲れ(?:様|さま)?|お世話になっ(?:ております|てます|ています)|はじめまして|"
    r"よろしく(?:お願い(?:いた)?します)?|さようなら|またね|また明日|助かりました|感謝します|"
    r"안녕(?:하세요|히)?|감사(?:합니다|해요)?|고마워(?:요)?|고맙습니다|수고(?:하세요|했어요|하셨습니다)?|"
    r"สวัสดี|ขอบคุณ"
)
_FILLER_RUNS = (
    r"大家|各位|收到|嗯+|行|好嘞|知道了|明白|大佬|同学们|朋友们|老师|机器人|非常|十分|太|真|很|你们?|您们?|的?帮忙|帮助|指点|支持|分享|了|啦|呀|"
    r"啊|哦|噢|哈+|呢|吧|嘛|哟|咯|的|好|我|们|～|么么哒|皆さん|みなさん|みんな|本当に|ほんとに|誠に|いつも|"
    r"とても|大変|です|でした|様|さま|さん|ね|よ|ー|〜|여러분|정말|진짜|너무|모두|님|다|ครับ|ค่ะ|คะ|มาก|นะ"
)
_SET_PHRASES = re.compile(
    r"(?:how are you(?: all| doing)?(?: today)?|how(?:['’]s| is) it going|what['’]?s up|how do you do|"
    r"wie geht['’]?s)\W*|"
    r"take care|you rock|appreciate it|don['’]?t mention it|(?:good|nice|great) (?:job|work|one)|well done|see you|"
    r"good (?:morning|day|afternoon|evening|night)|"
    r"(?:元気ですか|你好吗)\?*"
)
_MENTION = re.compile(r"<[@#!][^>\s]{1,80}>|(?<!\S)@[^\s,，、:：]+|:[a-z0-9_+\-]{2,40}:")
_WORD = re.compile(rf"{LETTER}+(?:['’]{LETTER}+)*")
_LONG_GREETING = re.compile(r"he+y+|hi+|hello+|thank(?:s+|y+)")
_GREETING_WORDS = frozenset(_GREETINGS.split())
_FILLER_WORDS = frozenset(_FILLERS.split())


def is_pleasantry(text: str) -> bool:
    """Whether `text` is only a greeting, thanks or a good-bye, in any script: nothing in it asks for memory.

    Mentions and emojis do not count; a message of nothing else (a bare mention, a thumb) is a pleasantry too, a lone
    `?` is not.
    """
    bare = _SET_PHRASES.sub(" hi ", fold(_MENTION.sub(" ", text)))
    if "?" in bare:
        return False
    words = [word for at, part in enumerate(RUN.split(bare)) for word in ([part] if at % 2 else _WORD.findall(part))]
    greeted = [_greets(word) for word in words]
    return None not in greeted and (True in greeted or not words)


def _greets(word: str) -> bool | None:
    """True: a word of greeting; False: a word that may stand beside one; None: a word that says something else."""
    if word in _GREETING_WORDS or _LONG_GREETING.fullmatch(word):
        return True
    if word in _FILLER_WORDS:
        return False
    if word.isascii():
        return None
    greeting, filler = _runs()
    rest, found = greeting.subn(" ", word)
    return None if filler.sub("", rest).strip() else bool(found)


@cache
def _runs() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Greetings, and what may stand beside them, in scripts that put no blank between words."""
    return re.compile(_GREETING_RUNS), re.compile(_FILLER_RUNS)
