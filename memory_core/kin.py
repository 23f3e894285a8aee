"""Words of one field: who asks for somebody's job may mean the line that says nurse is her profession. Pure.

A line of the table names a word and its kin: the first is kin of each of the others and these of the first, not the
others of each other. A Chinese or Japanese word has two characters, which make one term. It is everyday knowledge,
not what some data set asks: a person asks in other words than the answer's, and often for a kind of thing (pets,
instruments) where the answer names one. The last part leads from Chinese and Japanese words to English ones, for
rooms where people mix languages, as far as these are not one term anyway. What is asked for by its own words is
always worth more (memory_core.ranking).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache

from memory_core.han import simplified
from memory_core.script import is_paired
from memory_core.terms import terms

_FIELDS = """
job work career profession occupation position employ employer role | hobby activity pastime interest enjoy fun |
kid child children son daughter toddler baby | parent mother father mom dad mum | mother mom mum mama |
father dad papa | sibling brother sister | grandparent grandmother grandfather grandma grandpa granny |
spouse husband wife partner married marriage wedding |
relationship dating girlfriend boyfriend partner single married breakup |
family parent kid child mother father brother sister relative | friend buddy pal |
pet dog cat puppy kitten hamster parrot turtle | dog puppy | cat kitten | animal dog cat bird horse turtle |
car vehicle truck drive | trip travel vacation holiday journey tour visit |
travel country abroad flight visit trip | country nation abroad | city town place | place location spot |
home house apartment flat | move relocate | buy purchase bought shop get | store shop mall | sell sold sale |
book novel read story author | read book novel | movie film watch cinema show | watch movie film show series |
music song band concert sing instrument album | instrument guitar piano violin drum flute clarinet cello |
song music tune | concert gig festival show band | art painting drawing sculpture pottery paint draw |
paint painting canvas draw art | picture photo photograph image | dance dancing dancer |
sport soccer basketball football baseball tennis swimming running game team |
exercise workout gym run yoga training fitness | game play video gaming board |
win won prize award trophy victory first | competition contest tournament championship race |
event party festival conference celebration | party celebrate celebration birthday |
food dish meal eat cook recipe | meal dinner lunch breakfast | cook bake recipe dish cooking | eat food meal taste |
dessert cake cookie pie cream sweet | drink coffee tea wine beer | restaurant cafe diner |
school college university class study | study learn course class degree major | teacher professor mentor |
student pupil | education degree study school college | class course workshop lesson |
health medical doctor illness sick condition | doctor hospital clinic physician | sick illness disease |
injury hurt injured accident broke | happy joy glad excited | sad upset grief loss | afraid fear scared |
loss died death passed grief | die death passed dead | love like enjoy favorite adore | favorite love best prefer |
like love enjoy | dislike hate | plan intend going hope want | goal dream aspire ambition plan | want hope wish |
start begin launch open | stop quit end finish | open start launch opening | company business startup firm |
business company store shop startup | money pay cost price fund financial | cost price expense |
budget amount fund | help support assist volunteer | volunteer charity community donate help |
charity donate fundraiser nonprofit | church faith religion religious god pray | religion church faith spiritual |
politics political government policy | nature outdoors hike forest mountain park |
outdoors nature hike camping park | hike trail mountain trek | camp camping tent | beach ocean sea |
plant garden flower tree | garden gardening plant flower | weather rain snow storm sun |
gift present gave given receive | receive got gift | clothes dress shirt outfit fashion |
jewelry necklace ring bracelet | phone call text | computer laptop software code programming |
code program software | app application software | problem issue trouble challenge bug |
challenge struggle difficult hard obstacle | advice suggest recommend tip | recommend suggest advice |
meet met meeting encounter | talk discuss chat speak conversation | think opinion believe feel |
feel emotion feeling | learn discover realize | make create build made | create make build design |
fix repair solve | write writing wrote author story | age old year birthday | live reside home |
award prize recognition honor | reason why because | memory remember remind | date deadline schedule day |
deadline due date | location room site venue place | owner responsible lead | customer client |
vendor supplier provider | contract agreement | status state progress | approve approval approved signed agreed |
blocker blocked blocking issue risk | owner responsible lead assigned | access permission login |
password credential secret key token | cause root reason why | delete remove erase drop |
meeting call sync standup | release deploy ship rollout launch version | server host machine |
database db sql storage | test testing qa check | error bug crash failure exception | outage incident down crash |
invoice bill payment | colleague coworker teammate | boss manager supervisor | relax unwind calm rest |
stress anxiety pressure worry | 服务 service | 问题 problem issue | 决定 decision decided 決定 |
负责 owner responsible 担当 | 工作 job work 仕事 | 职业 job career profession | 爱好 hobby 兴趣 趣味 |
孩子 kid child 子供 | 父母 parent mother father | 妻子 wife spouse | 丈夫 husband spouse | 朋友 friend 友達 |
旅行 trip travel vacation | 电影 movie film 映画 | 音乐 music song 音楽 | 学校 school | 大学 university college |
老师 teacher 先生 | 医院 hospital doctor 病院 | 医生 doctor | 餐厅 restaurant | 早餐 breakfast | 午餐 lunch |
晚餐 dinner | 价格 price cost 値段 | 费用 cost expense 費用 | 公司 company 会社 | 办公 office | 邮箱 email mail |
计划 plan schedule 計画 | 目标 goal target 目標 | 原因 reason cause 理由 | 进度 progress status 進捗 |
状态 status state | 风险 risk blocker | 同事 colleague coworker 同僚 | 经理 manager boss | 名字 name 名前 |
喜欢 like love favorite | 讨厌 dislike hate
"""


def kin(asked: Iterable[str]) -> tuple[str, ...]:
    """The kin of these terms, each once, without the terms themselves."""
    wanted = tuple(dict.fromkeys(asked))
    found = dict.fromkeys(one for term in wanted for one in _kin().get(term, ()))
    return tuple(one for one in found if one not in wanted)


@lru_cache(maxsize=1)
def _kin() -> Mapping[str, tuple[str, ...]]:
    """By term its kin; a word that is no single term has none."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for line in _FIELDS.replace("\n", " ").split("|"):
        first, *others = (of_word[0] for word in line.split() if len(of_word := _terms(word)) == 1)
        for other in others:
            if other != first:
                found[first][other] = found[other][first] = None
    return {term: tuple(others) for term, others in found.items()}


def _terms(word: str) -> tuple[str, ...]:
    """The terms of a word of the table, without the rules of other scripts, which English alone has no need of."""
    return (simplified(word),) if is_paired(word) else terms(word)
