"""Words that ask for a kind of page, in English, Chinese, Japanese and German.

They support an index whose rows are written in another language, or in few words; a row's own words count more (see
routing). A layout names the word list of each page in its table (`PageRule.lexicon`). Three strengths: `strong` words
hardly mean anything else, `plain` ones usually mean this, `weak` ones only help others to win.

A Latin cue is compared as stemmed words standing side by side. One that begins with `=`, or holds words that stemming
drops, is compared as it stands, `*` for any word ("how do we" asks for how things are, "how did we" for what was); a
Chinese or Japanese one as it stands, anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from memory_core.lexicon_categories import CODING, DECISIONS, LESSONS, PLAIN, STRONG, TOOLS, WEAK
from memory_core.script import fold, is_paired
from memory_core.terms import terms

_TYPO_LETTERS = 6
_PLAIN_PART = re.compile(r"[^\s*']+")


@dataclass(frozen=True, slots=True)
class Cue:
    """One entry: as it is shown, and its weight. `piece` is looked for in folded text where there is one; a `pattern`
    is tried where it stands; without both the `terms` are, side by side."""

    shown: str
    terms: tuple[str, ...]
    weight: float
    piece: str = ""
    pattern: str = ""

    def means(self) -> tuple[str, ...]:
        """What it stands for as terms, none where a pattern finds it; of a piece they are made when it is found."""
        return terms(self.shown) if self.piece and not self.pattern else self.terms

    def stands_in(self, folded: str) -> bool:
        """Does the piece, and the pattern if there is one, stand in a folded text?"""
        return self.piece in folded and (not self.pattern or bool(_compiled(self.pattern).search(folded)))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Few patterns ever get here: the longest word of most stands in no message."""
    return re.compile(pattern)


_ATTENTION = {
    STRONG: """
in progress|working on|=to do list|=have to do|=need to do|todo|to-do|on my plate|blocked|blocker|blocking|
stuck|deadline|due|overdue|status|progress|pending|=what's left|=whats left|left to do|=is left|=are left|
open tasks|open items|open orders|next step|standup|waiting on|waiting for|eta|sprint|backlog|how far|
still open|=is open|=what's open|=whats open|=anything open|not finished|unfinished|remaining|=holding up|
=holding us up|=hold up|catch me up|catch up on|
=where are we|=where we are|=where things stand|sign off|signed off|out the door|=is * done|=are * done|
=get done|=got done|=done yet|=sorted yet|=ready yet|=finished yet|=anything left|running low|run out|任务|待办|
进度|进展|阻塞|卡在|卡住|卡着|截止|到期|下一步|没完成|未完成|没做完|做到哪|做得怎么样|弄到哪|写到哪|谁在做|
在做什么|在忙什么|还剩|要做什么|做什么任务|今天做|什么时候能|什么时候完成|什么时候好|排期|延期|工期|任務|進度|
阻礙|截止日|现状|弄完没|做完没|搞完|好了没|完成了没|还差|差什么|没弄|交付|タスク|進捗|ブロック|締め切り|締切|
期限|作業中|対応中|残り|終わってない|終わった|未完了|次に何|やること|いつまで|詰まって|止まって|状況|現状|
間に合|aufgabe|aufgaben|blockiert|frist|fällig|stand der dinge|der stand|offene punkte|noch offen|in arbeit|
fortschritt|bis wann|hängt|steht an|steht heute an|erledigen|erledigt|fertig sein|fertig|muss noch|noch raus|
was fehlt|coming along|=how's the * going|=how is the * going|slipped|=pick up|unassigned|unclaimed|
=waiting for me|重写得怎么样|做得咋样|没人认领|认领|工单|进展如何|没办|哪些事|空档|どう進|進み具合|wie läuft
""",
    PLAIN: """
task|tasks|finish|finished|ship|when is|by when|=what's next|=whats next|on track|behind schedule|assigned|
assign|priority|priorities|ticket|is ready|still waiting|picking up|pick up|doing today|coming up|milestone|wip|
running late|=get back to|=got back to|heard back|reply yet|=by monday|=by tuesday|=by wednesday|=by thursday|
=by friday|=by tomorrow|=before monday|=before friday|=before the weekend|=end of the week|promised|promise|
=can i help|=can i grab|=need to get|focus on|urgent|on fire|fires|unblock|follow up|当前|目前|正在|完成|做完|
搞定|弄好|好了吗|还在等|等着|今天要|这周要|本周|优先|手上|计划|安排|状态|回复了没|回复了吗|月底之前|周五前|
之前得|同步下|同步一下|答应|过了吗|有空|活儿|没回|着急|紧急|今日の|今週|いつ完了|まだ|できた|進んで|待ち|予定|
返事|急ぎ|stand|termin|woche|warten wir|warten|läuft|dran|gemeldet|bis freitag|bis montag|bis morgen|dringend|
geplant
""",
    WEAK: """
today|now|right now|currently|next|this week|tomorrow|still|yet|plan|soon|when|left|done|offen|heute|今天|这周|
明天|还有|什么时候|现在|今日|明日|いつ|morgen|jetzt|wann
""",
}
_PROJECT = {
    STRONG: """
tech stack|architecture|repository|repo|deploy|deployment|framework|branching|branch|merge|rebase|force push|ci|
pipeline|code style|linter|linting|database|which database|schema|endpoint|api design|monorepo|hosting|
coding style|=how we work|=how do we|=do we use|=do we support|=are we on|=are we using|=what's our|=whats our|
=what is our|=our policy|staging|production|release process|definition of done|built with|written in|
run locally|=running locally|=run it locally|local setup|=set up|=thing running|=running on my|naming|
naming scheme|naming convention|feature flag|feature flags|port|rest or|grpc|graphql|env var|env vars|
environment variable|config file|docker|readme|onboarding docs|migration script|技术栈|架构|仓库|部署|框架|分支|
数据库|接口|规范|约定|代码风格|编程语言|技术选型|上线|发布|环境|怎么部署|流程|服务之间|微服务|依赖|技術棧|架構|
倉庫|資料庫|端口|命名|本地|跑起来|强推|鉴权|认证方式|配置中心|灰度|回滚|怎么跑|怎么搭|怎么启动|怎么配|脚手架|
アーキテクチャ|リポジトリ|デプロイ|フレームワーク|データベース|ブランチ|技術スタック|構成|設計|開発環境|規約|
ステージング|本番|ローカル|起動|手順|ポート|認証|architektur|datenbank|deployen|bereitstellung|schnittstelle|
codestil|technologie|umgebung|lokal|zum laufen|namensschema|namenskonvention|einrichten|=is it * or|
=the rule for|=rules for|commit message|commit messages|orm|=which tool|=what tool|native|=logs go|logging|原生|
提交信息|日志|哪个平台|ルールは|コミット|welche version
""",
    PLAIN: """
stack|agreement|agreed|convention|language|version|service|services|server|cloud|provider|library|api|rest|sdk|
auth|dependency|dependencies|environment|config|configuration|url|backend|frontend|push|pull request|PRs|
test setup|tooling|workflow|host|hosted|setup|install|locally|policy|rollback|=do we|region|gateway|builds|flag|
flags|installed|=which version|=what version|unit test|unit tests|coverage|secrets|monitoring|cron|后端|前端|
版本|服务器|配置|地址|用的什么|用什么|用的哪个|哪个库|合并|通信|规则|支持|走的是|用的是|开关|网关|监听|仓位|
哪个区|安装|单元测试|监控|バージョン|サーバー|使ってる|使っている|使って|言語|環境|設定|方法|ルール|
インストール|benutzen wir|verwenden wir|nutzen wir|sprache|abgemacht|vereinbart|installieren|laufen
""",
    WEAK: """
project|code|app|system|build|node|python|java|react|vue|flutter|postgres|mysql|redis|kafka|kubernetes|aws|css|
typescript|rust|go|php|ruby|nginx|webpack|terraform|项目|代码|系统|プロジェクト|システム|コード|projekt|aufbau|
wo liegt
""",
}
_EXPERIENCE = {
    STRONG: """
decision|decided|decide|lesson|lessons|learned|root cause|postmortem|retro|retrospective|workaround|last time|
=what went wrong|went sideways|went wrong|go wrong|seen before|this before|=seen this|=had this|=before?|outage|
incident|settled on|settle on|rationale|reason|outcome|conclusion|verdict|conclude|grounds|=how did we|=why did|
=why do we|=why are we|=why aren't we|=why don't we|=why didn't we|=why did we|=why not|=why we|=why our|
=how come|=what did we|=did we ever|=did we not|=didn't we|=haven't we|=wasn't there|=have we|=had we|=we tried|
=we once|=tried * once|=what happened with|=what happened to|=what happened during|known fix|known issue|gotcha|
gotchas|pitfall|chose|choosing|picked|rejected|drop|dropped|trade-off|pros and cons|died again|again with|
same error|flopped|决定|原因|教训|经验|踩坑|踩过|坑|根因|复盘|故障|上次|之前遇到|遇到过|怎么解决|怎么修|当时|
当初|结论|怎么定|定的|拍板|选了|选型|放弃|绕过|事故|宕机|決定|教訓|經驗|为什么我们|我们为什么|为什么不|为什么要|
为什么选|为什么用|为什么没|为啥不|为啥要|为啥选|为啥用|为何不|为何选|凭什么|怎么回事|咋回事|咋搞的|怎么处理的|
处理的|结果如何|翻车|岔子|依据|修法|上回|那次|不用了|砍掉|要砍|收场|后来|理由|決めた|決まった|決め|学んだ|障害|
回避策|前にも|前に|以前|前回|やめた|やめて|選んだ|結論|経緯|直し方|何があった|あの時|なぜ私たち|なんで使|
なんでやめ|なぜ選|なぜ使|どう対応|どう直|entschieden|entscheidung|ursache|grund|lektion|gelernt|schon mal|
letztes mal|ausfall|fehler|umgehung|damals|ergebnis|gewählt|warum haben wir|warum wir|warum nicht|
warum nutzen wir|warum benutzen wir|wieso haben wir|ausprobiert|doch mal|beschlossen|was war da|schiefgelaufen|
schief gelaufen|schiefging|turn out|turned out|=what made us|=what made me|=what led|=led us|=story behind|
=history of|=trouble with|=problems with|=issues with|=we agreed on something|=i think we agreed|=did we agree|
=did we end up|=end up with|ended up|=used to|moved away|move away|=leave * for|=left * for|=how did the|
=how did it|=how did that|=what came of|=results of|=feedback on|=already solved|=solved that|=fixed that|
最后怎么|最后咋|最后怎样|结果咋|咋样了最后|怎么离开|为什么离开|商量过|讨论过|聊过|出过|教过训|效果如何|
效果怎么样|反馈如何|来龙去脉|どうなった|だった理由|何が原因|ausgegangen|herausgekommen|gelaufen|
hatten wir schon|vereinbart hatten
""",
    PLAIN: """
bug|fix|fixed|crash|crashed|mistake|failed|failure|broke|solved|solution|error|argument|experience|oom|died|
flaky|remember when|=did we|discussed|discussion|chosen|choice|result|results|leak|regression|agree to|quit|
hated|any good|=how did * go|=did it work|=did that work|timed out|timeout|switch from|switched|moving to|
migrate from|报错|错误|问题|解决|修复|失败|试过|讨论|记得|以前|选择|不稳定|泄漏|结果|又挂|挂了|评价|改成|换成|
エラー|バグ|直した|解決|失敗|問題|議論|試した|試して|不安定|変えた|problem|lösung|gelöst|gescheitert|diskutiert|
diskussion|rausgeworfen|hatten wir|abgestürzt|umgestiegen
""",
    WEAK: """
why|again|history|back then|issue|before|once|wieso|weshalb|warum|为什么|为啥|为何|為什麼|なぜ|なんで|どうして|
之前|最后|过|どう|früher|nochmal|だっけ|来着
""",
}
_PEOPLE = {
    STRONG: """
who owns|owner|responsible|in charge|contact|contacts|role|team lead|tech lead|who knows|phone number|email|
e-mail|on call|oncall|maintainer|expert|=who do i|=who should i|=who can|=who could|=who would|=who to|
=whom do i|=whom should i|who handles|who signs|reach|get hold of|point me to|go-to|point person|stakeholder|
knows|approver|report to|manager|teammate|prefers|timezone of|=good with|=good at|=experienced with|
=familiar with|=what does * do|=is there anybody|=is there anyone|=is there someone|=anybody around|
=anyone around|=anybody here|=anyone here|=anybody who|=anyone who|=somebody who|=someone who|=someone from|
=somebody from|speaks|=take over|=took over|takes over|=does * work on|=does * work mondays|
=does * work fridays|=day off|birthday|vacation|job title|=cc on|=to cc|landlord|负责人|谁负责|负责|联系方式|
联系|电话|邮箱|找谁|问谁|谁懂|谁会|谁熟悉|谁最|谁比较|哪位|角色|职责|同事|值班|对接人|是谁|谁是|谁批|谁来|谁管|
给谁|打给|抄送|平时干|是干嘛的|干嘛的|有没有人会|有没有会|的人吗|哪些人|谁接|接手|谁能|谁可以|谁有权|擅长|生日|
休假|負責|聯絡|郵箱|担当|担当者|連絡先|誰に|責任者|役割|メールアドレス|電話番号|詳しい人|誰が|できる人|わかる人|
分かる人|話せる人|お願いすれば|得意|zuständig|verantwortlich|ansprechpartner|kontakt|wen frage|an wen|
wende ich mich|wer kennt|wer weiß|wer kann|telefonnummer|wer macht|rolle|kann hier jemand|kann jemand|
spricht jemand|kennt sich|wer ist|谁|誰|wer|who|whose|point of contact|=name of the|=need an intro|
introduction to|approval|on duty|on support|=which dev|=which developer|=which of us|=which of you|同意|叫啥|
认识的人|承認|誰の|genehmig|genehmigen|name von
""",
    PLAIN: """
whom|whose|owns|owned|ask|member|members|people|person|colleague|phone|call|somebody|anybody|prefer|approve|
approves|design team|team member|handles|introduce|=does * speak|sign this|=work mondays|=work fridays|
part time|on leave|找|同学|成员|团队|人员|批准|介绍|叫什么|做什么的|喜欢|签字|有没有人|有人会|メンバー|チーム|
さんは|人いる|人いますか|wen|wem|kollege|kollegin|mitglied|erreiche|jemand
""",
    WEAK: "team|name|lead|role of|anyone|小组|部门|名字|人|名前|abteilung|frage",
}
_DAILY = {
    STRONG: """
yesterday|last week|last month|last few days|past few days|recently|lately|which day|what day|=what happened|
been up to|=this past|days ago|weeks ago|the other day|monday|tuesday|wednesday|thursday|friday|saturday|sunday|
diary|recap|昨天|前天|上周|上个月|最近|这几天|前几天|哪天|哪一天|发生了什么|忙了|日记|上星期|周一|周二|周三|
周四|周五|周六|周日|回顾|昨日|先週|先月|この間|何日|何曜日|何があった|一昨日|日記|振り返|gestern|vorgestern|
letzte woche|letzten monat|kürzlich|neulich|welchem tag|was ist passiert|tagebuch|rückblick|=get up to|
=got up to|up to lately|都干了|干了啥|做了啥
""",
    PLAIN: """
happened|daily|day|days|weekend|周末|週末|wochenende|=did i do|summary of|past|做了什么|干了什么|在干嘛|每天|
した日|毎日|tag|tage|passiert|in letzter zeit
""",
    WEAK: "week|month|date|ago|日|月|woche|monat",
}
_LISTS: Mapping[str, Mapping[float, str]] = {
    "attention": _ATTENTION,
    "project": _PROJECT,
    "experience": _EXPERIENCE,
    "people": _PEOPLE,
    "daily": _DAILY,
    "context": {weight: f"{text}|{CODING[weight]}" for weight, text in _PROJECT.items()},
    "decisions": {weight: f"{text}|{CODING[weight]}" for weight, text in DECISIONS.items()},
    "lessons": LESSONS,
    "tools": TOOLS,
}

_GENERIC_TEXT = """
when where why how someone somebody anyone anybody ask asks asking question questions about want wants need
needs know tell show find look check use used using work working thing things stuff something anything
everything get got make made go going come take give new old today tomorrow now next week day time way good bad
like say said think see one two first all more most much many lot people team name page file load read related
topic topics discuss talk wo wie was wann warum jemand frage fragen über thema themen heute alle
"""
_GENERIC_PAIRS_TEXT = """
什么 怎么 我们 你们 他们 一下 一个 有人 问题 相关 关于 现在 时候 可以 今天 这个 那个 哪个 如果 需要
想要 知道 的时 讨论 以及 或者 提到 询问 问到 时加 加载 有关 情况 内容 信息 事情 了解 查看 使用 进行
是什 么时 人问 谁是 是谁 当前 まし した です ます ない こと とき ため から まで する して いる ある
につ つい いて
"""


def lexicons() -> tuple[str, ...]:
    """The names of the word lists."""
    return tuple(_LISTS)


def load() -> None:
    """Take the word lists apart, and make ready for every script (0.1 s, blocks): call it in a thread at the start;
    else the first match does it."""
    for name in lexicons():
        _known(name)
    likely_meant("deploment")
    generality("deploy")
    terms("部署")


@cache
def cues(name: str) -> tuple[Cue, ...]:
    """The cues of one word list, strongest first; none for a name that is no list."""
    found: dict[str, Cue] = {}
    for weight, text in _LISTS.get(name, {}).items():
        for cue in text.replace("\n", "").split("|"):
            if cue:
                found.setdefault(fold(cue), _cue(cue, weight))
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class _Known:
    """The cues of a word list by how they are looked for: by their first term, or by their piece; as numbers."""

    by_term: Mapping[str, tuple[int, ...]]
    pieces: tuple[tuple[str, int], ...]
    ascii_pieces: tuple[tuple[str, int], ...]


@cache
def _known(name: str) -> _Known:
    by_term: dict[str, tuple[int, ...]] = {}
    pieces: list[tuple[str, int]] = []
    for number, cue in enumerate(cues(name)):
        if cue.piece:
            pieces.append((cue.piece, number))
        else:
            by_term[cue.terms[0]] = (*by_term.get(cue.terms[0], ()), number)
    return _Known(by_term, tuple(pieces), tuple(one for one in pieces if one[0].isascii()))


def cues_near(name: str, words: Iterable[str], folded: str) -> list[Cue]:
    """The cues of a list that may stand in a message, strongest first: of the hundreds, those whose first term is one
    of its `words`, or whose piece stands in it, `folded`."""
    known = _known(name)
    numbers = [number for word in words for number in known.by_term.get(word, ())]
    pieces = known.ascii_pieces if folded.isascii() else known.pieces
    numbers += [number for piece, number in pieces if piece in folded]
    own = cues(name)
    return [own[number] for number in sorted(numbers)]


def _cue(cue: str, weight: float) -> Cue:
    shown = cue.removeprefix("=")
    if is_paired(cue):
        return Cue(shown, (), weight, piece=fold(shown))
    if cue == shown and len(own := terms(shown)) >= len(shown.split()):
        return Cue(shown, own, weight)
    words = (re.escape(word).replace(r"\*", r"\S+").replace("'", "['’]?") for word in fold(shown).split())
    end = r"\b" if shown[-1].isalnum() else ""
    longest = max(_PLAIN_PART.findall(fold(shown)), key=len, default="")
    return Cue(shown, (), weight, piece=longest, pattern=r"\b" + r"\s+".join(words) + end)


def likely_meant(word: str) -> str:
    """The word of a list that a mistyped `word` stands for: a letter missing or doubled, or two swapped.

    Empty if there is none. Only for longer words that begin alike: short ones, and words with one letter other, have
    too many true neighbours (contract is no mistyped contact).
    """
    folded = fold(word)
    if len(folded) < _TYPO_LETTERS - 1 or not folded.isascii() or not folded.isalpha() or folded in _long_words():
        return ""
    if folded in _with_one_missing():
        return _with_one_missing()[folded]
    swapped = (folded[:at] + folded[at + 1] + folded[at] + folded[at + 2 :] for at in range(1, len(folded) - 1))
    once = (folded[:at] + folded[at + 1 :] for at in range(1, len(folded)) if folded[at] == folded[at - 1])
    return next((known for known in (*swapped, *once) if known in _long_words()), "")


@cache
def _long_words() -> frozenset[str]:
    texts = (text for by_weight in _LISTS.values() for text in by_weight.values())
    shown = (cue.removeprefix("=") for text in texts for cue in text.replace("\n", "").split("|"))
    words = {word for cue in shown for word in fold(cue).split()}
    return frozenset(word for word in words if len(word) >= _TYPO_LETTERS and word.isascii() and word.isalpha())


@cache
def _with_one_missing() -> Mapping[str, str]:
    """The long words by their forms with one letter left out, the first one never."""
    return {word[:at] + word[at + 1 :]: word for word in sorted(_long_words()) for at in range(1, len(word))}


@lru_cache(maxsize=1 << 12)
def generality(term: str) -> float:
    """How much a term says by itself: 1 for most, less for words that stand in any message or any row."""
    return _ASKING.get(term, 0.35 if term in _generic() else 1.0)


_ASKING = {"who": 0.5}


@cache
def _generic() -> frozenset[str]:
    return frozenset((*terms(_GENERIC_TEXT), *_GENERIC_PAIRS_TEXT.split()))
