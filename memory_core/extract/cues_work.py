"""Cues of tasks, status, blockers, and of facts about environment and tools."""

from __future__ import annotations

import re

from memory_core.extract.cue import START, Cue, Firmness, cue
from memory_core.layouts import Kind

_DOING = (
    r"(?:fix|write|rewrite|update|upgrade|send|migrate|deploy|prepare|review|finish|set up|create|open|file|"
    r"add|remove|"
    r"delete|rename|change|renew|implement|build|draft|document|clean up|order|book|schedule|release|publish|rotate|"
    r"move|merge|revert|port|refactor|investigate|contact|email|organi[sz]e|submit|handle|take over|push|upload|"
    r"configure|install|replace|disable|enable|test|provision|patch|bump|ship|translate|design|record|print|invite)"
)

_DO_JA = (
    r"(?:します|しておきます|やります|やっておきます|対応します|書きます|直します|作ります|送ります|調べます|出します|"
    r"進めます|まとめます|引き受けます)"
)
"""In Japanese the deed stands behind its object."""

DOES = re.compile(
    r"@?(?P<who>[^\W\d_][\w.-]{1,30}) (?!(?:needs|is|has|was|does|lacks|requires|breaks|fails|crashes|hangs|leaks|"
    r"misses|returns|throws|shows|uses|takes|gives|gets|says|looks|seems|depends|contains|holds|blocks|causes)\b)"
    r"[a-z]{2,20}s (?:the|an?|our|their|his|her|its|my|your)\b"
)
"""Who does what (`ben renews the certificate`), behind a label of tasks: the verb's form tells that a name stands in
front of it. What things do (`the build breaks the cache`) is no task of theirs."""

DONE = (
    Cue(
        Kind.TASK,
        Firmness.LABEL,
        cue(
            START + r"(?:done|finished|completed|fixed|shipped|merged|deployed|released)\s*[:：✅-]+\s+",
            START + r"(?:已?完成|搞定|已上线|已发布|完了)\s*[:：]\s*",
            START + r"(?:erledigt|fertig)\s*:\s*",
        ),
        status="done",
        whole=False,
    ),
    Cue(
        Kind.TASK,
        Firmness.EXPLICIT,
        cue(
            r"\b\w[\w./-]*(?: [\w./-]+){0,5} (?:is|are) (?:now |finally |all )(?:done|finished|complete|merged|"
            r"deployed|released|shipped|live)\b",
            r"^\W*(?:the |my |our )?\w[\w./-]*(?: [\w./-]+){0,4} (?:is|are) (?:done|finished|deployed|released|"
            r"shipped|live)\b(?=\W*$|\W+(?:and|so|now|all)\b|[,.!:;])",
            r"^\W*(?:i(?:'ve)? )?just (?:deployed|released|shipped|published|migrated|rolled out) (?!it\b|"
            r"that\b|this\b)",
            r"^\W*(?:i'm )?(?:done|finished) with (?:the|our) ",
            r"\bi(?:'ve| have)?(?: just| finally| now)? (?:finished|completed|shipped|deployed|migrated|"
            r"released) (?:the|our|all)\b",
            r"[^，,。]{2,40}(?:已经?|都|全部)[^，,。]{0,12}(?:完成|搞定|上线|发布|做完|改完|修好|发[给到]|提交|"
            r"合并|部署|迁移完)",
            r"[^，,。]{2,40}[，,]\s*(?:已?完成|搞定)了?[^\w?？吗]*$",
            r"[^，,。]{2,40}(?:完成|搞定|上线|做完|改完|写完|测完|画完|修好)了(?!吗)",
            r"(?:完了しました|終わりました|リリースしました|対応しました)",
            r"\b(?:ist|sind) (?:jetzt |nun |endlich )?(?:erledigt|fertig|umgestellt|ausgerollt|live)\b",
        ),
        status="done",
    ),
)

TODOS = (
    Cue(
        Kind.TASK,
        Firmness.LABEL,
        cue(
            START + r"(?:todo|to-do|action item|action|task)s?(?: (?:for|@)\s?@?[\w.-]{1,40})?\s*[:：]\s*",
            START + r"todo\s+(?=@\w)",
            START + r"(?-i:TODO)\s+(?=\w)",
            START + r"(?:待办|待辦|任务|待处理|行动项)(?:事项)?\s*[:：]\s*",
            START + r"(?:タスク|やること|宿題)\s*[:：]\s*",
            START + r"(?:aufgabe|zu tun)\s*:\s*",
        ),
        status="pending",
        whole=False,
    ),
)

GIVEN = (
    Cue(
        Kind.TASK,
        Firmness.EXPLICIT,
        cue(
            r"(?:^|[,.;:]\s*|\band )@?(?P<who>[a-z][\w.-]{1,30}) (?:will|is going to|is gonna) (?:then |"
            rf"also |now )?{_DOING}\b",
            r"(?:^|[，,。：: ])@?(?P<who2>[\u4e00-\u9fffa-z]{1,8}?)(?:在|要|会)?(?:下?个?(?:周|"
            r"星期)[一二三四五六日天]|明天|"
            r"今天|后天|\d{1,2}[号日]|月底)(?:之?前|以前)[^，,。？?]{0,6}(?:完成|提交|给出|做完|写完|改完|搞定|发出)",
            r"@(?P<who3>[^\s,:：，@]{1,20})[ ，,][^？?]{2,40}(?:之?前|以前)(?:完成|提交|给出|做完|写完|改完|"
            r"搞定|发出|发给|交)",
            r"^@?(?P<who4>[a-zäöü][\wäöüß-]{1,30}) (?:macht|schreibt|übernimmt|erledigt|schickt|aktualisiert) "
            r"(?:das|die|den)\b.{3,}",
        ),
        status="pending",
    ),
)
"""What someone is said to do; taken where that one takes part in the talk."""

COMMITMENTS = (
    Cue(
        Kind.TASK,
        Firmness.EXPLICIT,
        cue(
            r"(?<!think )(?<!sure )(?<!guess )(?<!so )(?<!mean )\b(?:i'll|i will|i'm going to|i am going to|"
            rf"i'm gonna) (?:then |also |now |go )?{_DOING}\b(?! you\b)",
            r"\b(?:i'll|i will) take care of\b|\bi(?:'m| am) taking (?:over )?the\b|\bi'll take the\b",
            r"我(?:来|去|会|负责|今天|明天|后天|下午|晚上|这周|下周|周末|马上|现在|周[一二三四五六日])*(?:来|"
            r"去|把|会|负责|今天把|明天把)(?:改|写|修|做|发|建|迁移|部署|整理|更新|准备|处理|跟进|测|补|提|配|"
            r"升级|联系|安排|把|搭|催|加|删|换|对接|接手|画|查)",
            r"我[^，,。]{0,6}把[^，,。]{1,20}(?:建|改|写|修|做|发|部署|迁移|搞|弄|整理|更新|补|删|加|换|配|测|"
            r"上线|合并)",
            r"我(?:周末|今天|明天|晚上|下午)(?:迁移|部署|更新|整理|处理|修复|发布)",
            rf"(?:私|僕|自分|こちら)(?:が|で|の(?:ほう|方)で).{{2,40}}{_DO_JA}",
            rf".{{2,40}}[はを]、?(?:私|僕|自分|こちら)(?:が|で|の(?:ほう|方)で).{{0,20}}{_DO_JA}",
            r"\bich (?:kümmere mich um|übernehme|erledige|mache (?:das|die|den)|schreibe (?:das|die|den)|"
            r"schicke|erneuere|richte|(?:aktualisiere|prüfe|ergänze|bestelle|buche|teste|repariere|baue|räume|lege|"
            r"stelle|bereite) (?:das|die|den|der|eine?n?|unsere?n?|alle)\b.{3,})\b",
            r"\bich werde .{3,60}(?:schreiben|machen|schicken|aktualisieren|erneuern|prüfen|ergänzen|bestellen|"
            r"testen|reparieren|vorbereiten|übernehmen|einrichten|aufräumen)\b",
        ),
        status="pending",
    ),
)
"""What someone takes on; `who` is the speaker."""

REQUESTS = (
    Cue(
        Kind.TASK,
        Firmness.PROPOSED,
        cue(
            rf"@(?P<who>[^\s,:：，@]{{1,40}})[,:]? (?:can|could|would|will) you (?:please |pls )?{_DOING}\b",
            rf"@(?P<who2>[^\s,:：，@]{{1,40}})[,:]? (?:please|pls) {_DOING}\b",
            r"^(?:hey |hi |ok |so )?(?P<who6>[a-z][\w.-]{1,30}),? (?:can|could|would|will) you (?:please |"
            rf"pls )?{_DOING}\b",
            r"(?:麻烦|请|辛苦)\s?@(?P<who3>[^\s,:：，@]{1,20})\s?(?:你)?(?:把|去|来|帮)?.{2,}",
            r"@(?P<who4>[^\s,:：，@]{1,20}),? (?:bitte|kannst du)\b.{4,}",
            r"@(?P<who5>[^\s,:：，@]{1,20})\s?(?:さん)?、?.{2,60}(?:お願いします|してください)",
        ),
        status="pending",
    ),
)
"""What someone is asked for; it becomes a task when they agree."""

BLOCKERS = (
    Cue(
        Kind.BLOCKER,
        Firmness.LABEL,
        cue(
            START + r"(?:blockers?|blocked)\s*[:：]\s*",
            START + r"(?:阻塞|卡点|阻碍)\s*[:：]\s*",
            START + r"(?:ブロッカー|blockade|blocker)\s*[:：]\s*",
        ),
        status="blocked",
        whole=False,
    ),
    Cue(
        Kind.BLOCKER,
        Firmness.EXPLICIT,
        cue(
            r"\b(?:i'm|i am|we're|we are|(?<!that )is|are|still|currently|totally) (?:still |currently |"
            r"totally |completely )?blocked(?: on| by| until|\b(?! (?:him|her|them)))",
            r"^\W*blocked (?:on|by|until)\b",
            r"blocked 了",
            r"\b(?:can't|cannot|can not|unable to) (?:continue|proceed|deploy|release|start|go on|move on|ship|"
            r"merge)\b.{0,80}\b(?:until|before|without|because)\b",
            r"\b(?:waiting (?:for|on)|need) .{3,80}\b(?:can't|cannot|before (?:i|we) can|until then)\b",
            r"\bi(?:'m| am) stuck (?:because|until|waiting)\b",
            r"(?:卡住了?|被卡|卡在|卡着|阻塞(?:了|在)|推进不下去|没法(?:继续|推进)|无法(?:继续|推进))",
            r"(?:在|还在|一直在)等.{2,60}(?:才能|没法|无法|不能|就没)",
            r"(?:ブロックされて|待ちで(?:止まって|進め))",
            r"\b(?:bin|ist|sind) (?:noch )?blockiert\b|\bhänge (?:fest )?an\b|\b(?:komme|"
            r"kommen)(?: \S+){0,6} nicht weiter\b.{0,60}\b(?:bis|weil|ohne|solange|da)\b",
        ),
        status="blocked",
    ),
)

STATUS = (
    Cue(
        Kind.STATUS,
        Firmness.LABEL,
        cue(
            START + r"(?:status|progress|status update|progress report)(?: (?:for|of|on|update|"
            r"report)\b[\w /.-]{0,40})*\s*[:：]\s*",
            START + r"(?:同步一下进度|进度同步|同步进度|进度|进展|状态|进度更新)\s*[:：]?\s*(?=.{4})",
            START + r"(?:進捗|ステータス)\s*[:：]\s*",
            START + r"(?:stand|status|zwischenstand)\s*:\s*",
        ),
        status="in_progress",
    ),
    Cue(
        Kind.STATUS,
        Firmness.EXPLICIT,
        cue(
            r"\b\w+ (?:is|are) (?:about |now |currently )?\d{1,3} ?% (?:done|complete|finished)\b",
            r"\bi(?:'m| am) (?:currently |still |now )?(?:working on|halfway through|in the middle of) (?:the|our)\b",
            r"我(?:正在|还在|在)(?:修|做|改|写|测|处理|跟进|开发|弄)",
        ),
        status="in_progress",
    ),
)

ENVIRONMENT = (
    Cue(
        Kind.ENVIRONMENT,
        Firmness.EXPLICIT,
        cue(
            r"\b(?:the )?(?:new |staging |prod(?:uction)? |test |dev |our )*(?:url|address|endpoint|"
            r"host(?:name)?|domain|gateway|ip|port|vpn|server|db|database|dashboard|wiki|repo(?:sitory)?|"
            r"bucket|cluster|registry|wi-?fi|ssid)(?: for [\w -]{1,30}| gateway| name| address| password)* "
            r"(?:is|are|lives|runs|moved|changed|has moved|has changed|will be)(?: now)? (?:at |to |on |"
            r"called |named )?(?=\S{0,80}[\d./:\"-])",
            r"\b(?:staging|prod(?:uction)?|dev|the (?:test|demo|staging|build|ci) \w+) (?:is|moved|has moved|"
            r"lives|runs|now runs)(?: now)? (?:at|to|on|under) \S{0,60}?[\d./:]",
            r"\b(?:the|our) (?:\w+ )?(?:api|website|site|wiki|jira|jenkins|grafana|kibana|sentry|registry|ci|tracker|"
            r"dashboard|vpn|proxy|frontend|backend|database|server) (?:is|lives|runs|moved|has moved)(?: now)? "
            r"(?:at|on|to|under) (?:https?://|[\w-]+[.:]\w)",
            r"\b(?:creds?|credentials|logins?|passwords?|secrets|api keys?|certs?|backups?|logs|docs|"
            r"runbooks?) (?:(?:are|is|live|lives|can be found) (?:now )?(?:in|on|at|under|stored in)|"
            r"(?:has |have )?moved to) (?!the "
            r"(?:same|way)|a |an |there|it\b|there\b)\S",
            r"(?:地址|域名|入口|网关|端口|服务器|环境|仓库|数据库|面板|链接|VPN|gateway|账号|"
            r"密码)[^，,。？?吗]{0,20}?(?:换成|改成|改为|变成|迁到|搬到|是|为|在)\s?\S{0,60}?[\d./:]",
            r"(?:URL|アドレス|ポート|サーバー?|環境)[^、。?？]{0,20}は\s?\S{0,60}?[\d./:]",
            r"\b(?:adresse|url|server|port|passwort|zugangsdaten)\b.{0,30}\b(?:ist|sind|liegt|liegen|läuft) "
            r"(?:jetzt |nun )?(?:unter|auf|in|bei)?\b",
        ),
    ),
)

NOTICES = (
    Cue(
        Kind.ENVIRONMENT,
        Firmness.EXPLICIT,
        cue(
            r"^\W*(?:@\w+\W+)?(?:psa|heads[- ]up|announcement|notice)\b\s*[:,!-]+\s*(?=.{12})",
            r"^\W*(?:@\w+\W+)?fyi\s*[:,-]*\s+(?=(?:all|the (?:office|server|vpn|api|build|site|team|staging|"
            r"prod\w*)|everyone)\b)",
            r"^(?:通知|公告|提醒大家)[一下]*\s*[:：，,]\s*(?=.{4})",
            r"^(?:お知らせ|連絡)\s*[:：]\s*(?=.{4})",
            r"^(?:info|achtung|hinweis)(?: an alle)?\s*:\s+(?=.{12})",
        ),
        whole=False,
    ),
)
"""What is announced to all."""

TOOLS = (
    Cue(
        Kind.TOOL,
        Firmness.EXPLICIT,
        cue(
            r"\b(?:please |everyone |psa:? |fyi:? |heads[- ]up:? )use .{2,80}\b(?:instead of|from now on|"
            r"rather than)\b",
            r"\buse [`'\"].{2,60}[`'\"] (?:instead of|from now on|rather than)\b.{0,60}\bfrom now on\b",
            r"\bwe (?:now )?have (?:a|an) (?:new )?(?:script|command|tool|bot|dashboard|make target|template)\b.{3,}",
            r"(?:通知|注意|提醒)[:：,，].{0,40}(?:改用|统一用|请用|使用)",
            r"(?:以后|今后).{0,10}(?:改用|统一用|请用)\s?[`A-Za-z]",
            r"\bab (?:jetzt|sofort) (?:bitte )?.{2,40}\b(?:statt|verwenden|nutzen|benutzen)\b",
        ),
    ),
)
