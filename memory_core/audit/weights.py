"""The forms inside a statement that tell its theme, with their weights. Data alone.

2 is enough by itself; 1 is a hint, which needs another one or a fitting heading.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from memory_core.audit.cues import Theme, words

_UNIT = (
    r"(?:%|percent|prozent|ms|µs|ns|s|sec(?:onds)?|[KMGT]i?B(?:/s)?|qps|rps|req/s|bar|°C|fps|arcsec|px|"
    r"points?|punkte|reps?"
    r"|€|\$|£|eur|usd|个百分点|毫秒|秒|倍|分|円|件|ミリ秒|h|hours?|stunden)"
)
_NUMBER = r"\d+(?:[.,]\d+)*"
_FIGURE = rf"{_NUMBER} ?{_UNIT}(?![^\W\d_])"

PROGRESS: Sequence[tuple[int, re.Pattern[str]]] = (
    (3, re.compile(
        r"^[\W_]*(?:status|progress|next(?: steps?)?|to-?do|eta|blocked|pending|still to \w+|stand|offen|"
        r"nächste schritte|"
        r"状态|进度|下一步|待办|済|未|進捗|次|残り|明天要做什么)\s?[:：]",
        re.IGNORECASE,
    )),
    (2, re.compile(
        r"\d+ ?%? ?(?:percent )?(?:complete|done|finished|ready|migrated|converted|fertig|erledigt|umgesetzt)",
        re.IGNORECASE,
    )),
    (2, re.compile(
        r"\d+ ?% (?:of|der|des) (?:the )?(?:\w+ ){1,2}(?:are|is|sind|ist) (?:done|finished|complete\w*|fertig|"
        r"erledigt)",
        re.IGNORECASE,
    )),
    (2, re.compile(
        r"\d+ (?:of|out of|/|von) \d+ (?:milestones?|tasks?|tickets?|steps?|phases?|stories|modules?|"
        r"meilensteinen?|aufgaben)",
        re.IGNORECASE,
    )),
    (2, words(
        r"in progress|work in progress|wip|currently|half[- ](?:finished|done|way)|"
        r"half of (?:the|it|them)[^.]*(?:done|converted|finished|migrated)|"
        r"still (?:open|missing|red|pending|to do|in review|failing)|almost (?:done|finished|ready)|"
        r"(?:is|are|stands?) (?:well )?underway|next step|next up|not started|(?:is|in|under|for) review|"
        r"(?:tickets?|tasks?|steps?|items?|stories) (?:left|remaining|to go)|remaining (?:tasks|work|steps)|"
        r"on track|"
        r"behind schedule|going well|to be done|eta|(?:planned|designed), not (?:yet )?built|"
        r"not yet (?:built|started|done)|still (?:broken|to add|to do|waiting)|(?:half|part(?:ly)?|mostly) done|"
        r"build is pending|"
        r"waiting for (?!an?\b|the\b)[A-Z]\w+|awaiting \w+|"
        r"in arbeit|zur hälfte|es fehlen? noch|steht noch aus|stehen noch aus|noch offen|fast fertig|"
        r"derzeit|aktuell|"
        r"nächster schritt|soll (?:nächste|diese|bis)|liegen vor|läuft (?:noch|gerade)|zu erledigen",
        r"正在(?!线)|做到 ?\d|等反馈|还在|等回复|待确认|已完成|完成度|进行中|还剩|剩下|尚未|还没(?:有)?开始|"
        r"下一步|预计|目前|待办|待完成|做到了|"
        r"进度为?[:： ]?\d|"
        r"完成了?\d|接下来|计划本周|本周内|即将|做了一半|等.{1,12}(?:权限|批准|回复)|"
        r"進行中|作業中|対応中|準備中|確認待ち|返事待ち|来週まで|残り ?[\d一二三四五]|まだ(?:終わって|できて)|"
        r"下書き中",
    )),
    (1, words(
        r"working on|waiting (?:for|on)|blocked|pending|paused|postponed|done|finished|started|ongoing|planned|"
        r"todo|open|shipped|deployed|delivered|drafted|unfinished|"
        r"comes? (?:next|after)|next|deadline|sprint(?: \d+)?|milestones?|"
        r"fertig|begonnen|geplant|wartet auf|verschoben|offen|nächste woche",
        r"下周|本周|全量|完成|等待|阻塞|暂停|待|计划|联调|压测|重构|里程碑",
    )),
)  # fmt: skip

DECISION: Sequence[tuple[int, re.Pattern[str]]] = (
    (2, words(
        r"(?:we|i|they|he|she|team)?(?:'ve| have)? ?(?:decided|agreed|settled|resolved)(?: (?:to|that|on|"
        r"against|not))|decided|"
        r"decision:|(?:we|i) (?:chose|picked|went with|opted for|dropped|rejected|stay(?:ed)? (?:on|with)|"
        r"stick with)|"
        r"(?:picked|chose|went with|using) \S+ (?:over|instead of) \S+|what (?:i|we) took from (?:it|this|that)|"
        r"takeaways?:|note to self|"
        r"chose [^.]{1,60} (?:over|"
        r"instead of|because)|"
        r"picked [^.]{1,60} (?:over|instead of|because)|lessons?(?: learn(?:ed|t))?:|learned (?:that|to|the "
        r"hard way)|it turned out|"
        r"turns out|in hindsight|root cause|never again|"
        r"beschlossen|entschieden|festgelegt|abgemacht|entscheidung:|wir (?:nehmen|verwenden ab)|"
        r"gelernt, dass|lehre:|merke:|es "
        r"stellte sich heraus",
        r"决定[了用采使把不将统:：]|我们决定|决议|教训[:：是]?|结论[:：]|学到(?:什么|的|了)?[:：*]|"
        r"选择了?.{1,20}(?:而不|不用|因为)|"
        r"不再使用|一致同意|约定[:：]|发现原来|"
        r"に決めた|ことにした|ことにする|と決定|を採用|教訓[:：]|学んだこと",
    )),
    (1, words(
        r"because|instead of|rather than|so always|always|never|reason:|beats?|"
        r"weil|statt|immer|niemals|deshalb|grund:",
        r"因为|所以|而不是|统一使用|必须|务必|导致|不要|ではなく|必ず|だから|ため、",
    )),
    (1, words(r"otherwise|or else|next time|from now on|sonst|andernfalls|künftig", r"否则|不然|以后|下次|切记")),
)  # fmt: skip

GROUP: Sequence[tuple[int, re.Pattern[str]]] = (
    (2, re.compile(r"(?<![\w/&#`])#(?=[a-z一-鿿])(?![0-9a-f]{6}\b)[\w-]{2,}", re.IGNORECASE)),
    (2, re.compile(
        r"\b(?:discord:\d{5,}|slack:[TE][0-9A-Z]{3,}(?::[CGD][0-9A-Z]{3,})?|console:#?\w+)|"
        r"\b[CG]0[0-9A-Z]{7,}\b|(?<!\d)\d{17,20}(?!\d)|-100\d{8,}|oc_[0-9a-f]{16,}|\d+@chatroom|@g\.us"
    )),
    (2, re.compile(r"memory/groups/(?![\s{<*(（]|group_names|name\b|yyyy|\.md)[\w.-]+(?:\.md|/)?", re.IGNORECASE)),
    (2, words(
        r"(?:groups?|channels?|chats?|rooms?) (?:that )?i(?: am|'m) in|members? of (?:the )?(?:group|channel|room)|"
        r"group members?:|"
        r"(?:group|channel) (?:id|name)s?:|"
        r"(?:groups?|channels?|chats?|rooms?) (?:that )?i(?: am|'m) (?:part|a member) of|"
        r"(?:discord|slack|matrix|telegram) (?:server|group|channel|chat) [\"“'][^\"”']+|"
        r"gruppen, in denen|mitglieder der gruppe|gruppenmitglieder",
        r"[「“\"'][^」”\"']{1,20}(?:群|小组|频道)[」”\"']|[\w一-鿿]{1,10}群、|群成员|群号|群主|群名[:：]|"
        r"所在的?群",
    )),
)  # fmt: skip

TEMPORARY: Sequence[tuple[int, re.Pattern[str]]] = (
    (2, words(
        r"for now|for the time being|temporar(?:y|ily)|for the moment|in the meantime|in the meanwhile|"
        r"as a stopgap|"
        r"until (?:(?:the|a|an|we|it|that|he|she|they|our|my) [^.;]{0,40}?(?:is|are|has|have|comes?|gets?|"
        r"arrives?|"
        r"renews?|returns?|fix\w*|replace\w*|ships?)|then|further notice|[a-z]+ (?:is|are|has|comes?|gets?)|"
        r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)|this week|quick fix|"
        r"hotfix|work-?around|"
        r"while [^.]{1,40} (?:is|are) (?:down|broken|offline|out)|remove (?:this|it) (?:when|once|after)|"
        r"vorübergehend|vorläufig|bis auf weiteres|einstweilen|fürs erste|bis (?:das|der|die|wir|"
        r"es) [^.]{2,40} (?:ist|sind|da|kommt|wird)|"
        r"notbehelf|zwischenlösung|solange|so lange nur",
        r"临时(?!文件|目录)|暂时|暂且|先用|等.{1,16}(?:再|后|好)|(?:修|换|好|上线|恢复|到货|解决).{0,4}之前先|在此之前|过渡期|修好之前|权宜|暫定|一時的に|とりあえず|当面|"
        r"直るまで|届くまで",
    )),
)  # fmt: skip

RESULT: Sequence[tuple[int, re.Pattern[str]]] = (
    (2, re.compile(
        rf"(?:from|von|由|从) ?(?:about |etwa )?{_NUMBER} ?{_UNIT}?.{{0,12}}?(?:to|auf|到|至|涨到|提升到|"
        rf"降到) ?{_NUMBER}",
        re.IGNORECASE,
    )),
    (2, re.compile(
        rf"{_FIGURE}[^.;]{{0,40}}(?:before|after|vs\.?|versus|instead of|vorher|nachher|weniger als|mehr als|"
        rf"higher|lower|faster|slower)",
        re.IGNORECASE,
    )),
    (2, re.compile(r"(?:sample|probe|isolate|specimen|patient|batch|run|样本|批次) ?#?[A-Z]?\d+.*\d", re.IGNORECASE)),
    (2, re.compile(
        rf"(?:accuracy|precision|recall|f1|auc|score|p9[059]|latency|throughput|conversion|qps|ct|identity|"
        rf"benchmark|error rate|hit rate|backtest|cagr|drawdown|sharpe|revenue|attendance|einnahmen|umsatz|"
        rf"成功率|遅延|夏普|年化|最大回撤|准确率|召回率|精度|转化率|延迟|吞吐|命中率|错误率|genauigkeit|"
        rf"durchsatz|messung|trefferquote).{{0,50}}?{_NUMBER}",
        re.IGNORECASE,
    )),
    (2, re.compile(
        r"\b\d+ of \d+ (?:\w+ )?(?:carry|carried|showed|show|passed|failed|were|are|had|have|answered|responded)",
        re.IGNORECASE,
    )),
    (1, re.compile(_FIGURE, re.IGNORECASE)),
    (2, re.compile(rf"{_FIGURE}.*?[,;，；/].*?{_FIGURE}", re.IGNORECASE)),
    (2, re.compile(r"\d+ (?:of|out of|/|von) \d+ (?:points?|punkten?|questions?|correct|right|分)", re.IGNORECASE)),
    (1, words(
        r"average|mean|median|reached|showed|yielded|measured|improved|increased|decreased|rose|fell|dropped|"
        r"cut|answers|survey|"
        r"ergab|ergaben|durchschnitt|gemessen|stieg|sank|verbessert|anstieg",
        r"比.{1,8}[高低多少快慢]|先月|前回|提升|下降|提高|降低|增长|达到|高出?|低于|基线|平均|测得|实测",
    )),
)  # fmt: skip

DETAIL: Sequence[tuple[int, re.Pattern[str]]] = (
    (2, re.compile(
        r"\bgit@[\w.-]+:|https?://(?:www\.)?(?:github|gitlab|bitbucket)\.\S+|(?:^|\s)/api/\S+|"
        r"\b(?:GET|POST|PUT|PATCH|DELETE) /\w"
    )),
    (1, re.compile(
        r"(?<![\w])(?:[\w~.-]*/)+[\w.-]*(?:src|config|schemas?|\.toml|\.ya?ml|\.json|\.py|\.java|\.ts|\.rs|"
        r"\.go|\.env)\b|[\w-]+\.(?:toml|ya?ml|ini|env|py|java|rs|ts|go|sql|db)\b|\.env(?:\.\w+)?"
    )),
    (1, re.compile(r"`[^`]+`")),
    (1, words(
        r"back-?end|front-?end|built (?:with|on)|written in|runs? on|uses?|based on|deploy(?:s|ed|ment)?|"
        r"hosted on|endpoints?|"
        r"migrations?|monorepo|repository|repo|branch|build is|release is|"
        r"läuft (?:mit|auf)|gebaut wird|basiert auf|oberfläche|quelltext|quellcode|das backend|schnittstelle",
        r"后端|前端|消息队列|代码(?:目录|库|仓库)|入口是|接口|框架|基于|部署在|分支",
    )),
    (1, words(
        r"schema|tables?:|the schema|queue|worker|import job|job|brokers?|cluster|env(?:ironment)? vars?|"
        r"config(?:uration)?|ports?|"
        r"api|sdk|crates?|packages?|modules?|plugins?|middleware|cron|pipeline|sidecar|lambda|feature flags?|"
        r"tabellen|konfiguration|modul|warteschlange",
        r"数据表|[\w]+表|分区|签名|配置文件|端口|定时任务|模块|字段",
    )),
    (1, re.compile(
        r"\b(?:fastapi|django|flask|celery|sqlalchemy|svelte(?:kit)?|next\.?js|nuxt|react|vue3?|angular|"
        r"quarkus|spring ?boot|rails|"
        r"laravel|phoenix|liveview|prisma|drizzle|supabase|firebase|flutter|kafka|rabbitmq|redis|avro|graphql|"
        r"grpc|fastify|express|"
        r"electron|tauri|gradle|webpack|vite|tailwind|sqlite|kalman|hibernate|oban|quinn|zod|terraform|"
        r"kubernetes|edge functions)\b",
        re.IGNORECASE,
    )),
)  # fmt: skip

WEIGHTS: Mapping[Theme, Sequence[tuple[int, re.Pattern[str]]]] = {
    Theme.PROGRESS: PROGRESS,
    Theme.DECISION: DECISION,
    Theme.GROUP: GROUP,
    Theme.TEMPORARY: TEMPORARY,
    Theme.RESULT: RESULT,
    Theme.DETAIL: DETAIL,
}
"""All but events and tools, which lean.py tells by their form."""
