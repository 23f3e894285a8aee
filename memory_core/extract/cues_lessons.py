"""Cues of lessons: what goes wrong, how it was solved, who advised it, who says that it worked."""

from __future__ import annotations

from memory_core.extract.cue import START, Cue, Firmness, cue
from memory_core.layouts import Kind

LESSONS = (
    Cue(
        Kind.LESSON,
        Firmness.LABEL,
        cue(
            START + r"(?:lessons? learned|lesson|learning|gotcha|postmortem|takeaway)\s*[:：]\s*(?=.{12})",
            START + r"(?:经验教训|教训|经验|踩坑记录|踩坑|复盘)\s*[:：]\s*(?=.{6})",
            START + r"(?:教訓|学び)\s*[:：]\s*(?=.{6})",
            START + r"(?:gelernt|lehre|erkenntnis)\s*:\s*(?=.{12})",
        ),
        whole=False,
    ),
)
"""A lesson under its own label; unlabelled ones: memory_core.extract.lessons."""

PROBLEM = cue(
    r"\b(?:bugs?|errors?|exceptions?|fail(?:s|ed|ing|ure)?|crash(?:es|ed|ing)?|broke(?:n)?|hangs?|hanging|hung|"
    r"freez(?:es|ing)|timeouts?|timing out|timed out|leak(?:s|ing|ed)?|oom(?:ing|s)?|segfaults?|outage|"
    r"unreachable|refused|denied|corrupt(?:ed)?|dies|died|dying|stuck|slow|flaky|weird|problem|issue|cannot|"
    r"can't|doesn't work|didn't work|not working|won't (?:start|build|run|load|compile|boot)|conflict(?:s|ed)?|"
    r"mismatch|wrong|losing|lost|missing|garbled|unresponsive|down)\b",
    r"\b(?:4\d\d|50[0-4])s?\b|no space left",
    r"问题|报错|错误|失败|崩溃|崩了|挂了|超时|卡死|异常|不能用|用不了|打不开|连不上|断开|断一次|丢失|丢数据|"
    r"内存泄漏|乱码|模糊|失效|不显示|不见了|有人碰到|有人遇到|遇到过|很慢|起不来|不生效",
    r"エラー|落ちる|失敗|動かない|不具合|つながらない|遅い|障害",
    r"\b(?:\w*fehler\w*|kaputt|abgestürzt|stürzt ab|(?:bricht|brach) .{0,40}ab|abgebrochen|geht nicht|ging nicht|"
    r"läuft nicht|startet nicht|baut nicht|lädt nicht|hängt|langsam|funktioniert nicht|\w*problem)\b",
)
"""Something goes wrong."""

SOLUTION = cue(
    r"\b(?:changed|set|added|removed|updated|renamed|raised|disabled|enabled|reverted|pinned|upgraded|downgraded|"
    r"rolled back|switched|restarted|replaced) .{3,100}\bworks? (?:again|now|fine)\b",
    r"\b(?<!be )(?:fixed|solved|resolved|cured|sorted)(?: it| this| that| the \w+(?: \w+)?)? (?:by|with|via|"
    r"after|using)\b",
    r"\b(?:caused by|due to|came from|because of)\b.{3,100}\b(?:fixed|solved|resolved)\b",
    r"(?:^|[,.;:(]\s*|\b(?:the|my|our|and|a|real|actual|simple|quick|easy|then)\s+)(?:fix|solution|cure|remedy|"
    r"workaround|work-around) (?:was|is|turned out)\b|\b(?:fix|solution|workaround|work-around|root cause|"
    r"cause|lesson(?: learned)?)\s*[:：]",
    r"\b(?:root cause|the cause|the culprit|the reason|the problem|the issue|the trick) (?:was|"
    r"turned out to be|is that)\b|\broot cause\b",
    r"\b(?:did|does) the trick\b",
    r"(?<=[\w\"')]) (?:fixed|solved|resolved|cured) (?:it|that|this|the|all|my|our|everything)\b",
    r"\blesson learned\b",
    r"(?:原因是|原因找到|找到原因|根因|问题出在|问题是因为|是因为)(?=.{3})",
    r"(?<=.{3})(?:就好了|就可以了|就行了|解决了|修好了|搞定了|恢复了|就正常了)",
    r"解决(?:办法|方案|方法)(?:是|：|:)",
    r"(?:原因は|解決しました|解決した|直りました|直った|対処法は)",
    r"\b(?:ursache (?:war|ist)|lösung\s*:|die lösung (?:war|ist)|gelöst (?:durch|mit|indem)|behoben (?:durch|"
    r"mit|indem))",
)
"""How it was solved, or why it happened."""

REMEDY = cue(
    r"\b(?:fix(?:ed)?|solv(?:ed|es)|resolved|solution|workaround|work-around|cured|did the trick|works? (?:now|"
    r"again)|now (?:it )?works|instead|upgrad|downgrad|pin(?:ned)?|rais(?:e|ed|ing)|set(?:ting)?|chang(?:ed|"
    r"ing)|added|adding|remov(?:ed|ing)|updat(?:ed|ing)|switch(?:ed|ing)|restart|disabl|enabl|alter|increas|"
    r"renam|revert|rolled back|have to|need(?:s|ed)? to|must)",
    r"解决|修好|就好了|就行了|就可以|搞定|改成|改为|调到|开启|加了|加上|升级|换成|回滚|恢复|正常了",
    r"解決|直り|直った|対処|変更|増や|大きく",
    r"gelöst|lösung|behoben|aufgenommen|umgestellt|geändert|ergänzt|erhöht|jetzt geht",
)
"""A sentence that tells the cause is a solution only when something was done about it."""

ADVICE = cue(
    r"^\W*(?:@\w+\W+)?(?:\w+,? ){0,2}(?:try|use|set|add|remove|change|upgrade|downgrade|update|pin|raise|"
    r"restart|disable|enable|switch|increase|install|delete|revert|wrap|replace)\b",
    r"\b(?:you (?:could|can|need to|have to|should|might want to|want to|probably want)|have you tried|"
    r"did you try|try (?:to|with|adding|using|setting)|instead of)\b",
    r"试试|试一下|改成|改为|调到|开启|加上|升级|换成|回滚|重启|把|应该",
    r"してみて|使って|変更|増や|再起動",
    r"\b(?:versuch|probier|nimm|setz|mach|starte?|ändere|installier|erhöh|aktualisier|aktivier|deaktivier|"
    r"lösch)\w*\b|^\W*(?:gib|stell|schalt|dreh|lass|nutz|verwende) .{3,}",
)
"""Someone says what could be done."""

RELAPSED = cue(
    r"\bi think (?:that )?the (?:problem|issue|cause|reason)\b|\b(?:for a while|come back|came back|happen(?:s|"
    r"ed|ing) again|not sure (?:if|whether|that)|(?:didn't|did not|doesn't|hasn't|won't) (?:fix|help|solve)|"
    r"seems? to have come|proposed|your (?:\w+ )?(?:fix|repair|patch|pr|commit|change))\b",
    r"没解决|没用|还是不行|又出现",
    r"直らな|まだ駄目",
    r"\b(?:nicht gelöst|wieder da|hilft nicht)\b",
)
"""No solution after all, or one whose content is not told."""

CONFIRMED = cue(
    r"^\W*(?:@\w+\W+)?(?:(?:yes|yep|yeah|ok|oh|ah|wow|great|awesome|perfect|thanks|thank you|cool|nice)\W+){0,3}"
    r"(?:that|this|it|which) (?:did it|did the trick|fixed it|fixed the \w+|solved it|was it|helped|worked|"
    r"works(?: now| perfectly| great|(?=\W*$)|(?=\W+(?:thanks|thank you|now))))\b(?! (?:on|for|if|as|in|before)\b)",
    r"^\W*(?:yes|yep|ok|great|perfect)?\W*works now\b",
    r"果然好了|可以了|好使了|解决了[！!，, ]*(?:谢|感谢|多谢)|真的好了",
    r"直りました|動きました",
    r"\b(?:das war'?s|jetzt (?:geht|läuft|klappt)(?:'?s| es)|hat geklappt|hat geholfen)\b",
)
"""The one with the problem says that the advice before it was right."""
