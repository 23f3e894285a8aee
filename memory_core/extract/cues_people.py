"""Cues of roles, contacts and preferences, and of what a person asks to remember."""

from __future__ import annotations

import re

from memory_core.extract.cue import Cue, Firmness, cue
from memory_core.layouts import Kind

_POST = (
    r"(?:lead|owner|maintainer|manager|admin(?:istrator)?|engineer|developer|designer|architect|tester|analyst|"
    r"scrum master|product owner|pm|cto|ceo|cfo|sre|dba|on-?call|point person|release manager|intern|approver)"
)

ROLES_OWN = (
    Cue(
        Kind.ROLE,
        Firmness.EXPLICIT,
        cue(
            r"\bi(?:'m| am) (?:now |currently |also )?(?:the|your|our|a|an)(?: new| acting| deputy|"
            rf" interim)?(?: [\w/-]+){{0,3}} {_POST}\b(?! (?:of|in) (?:my|a) )",
            r"\bi(?:'m| am|'ll be| will be) (?:now |also )?(?:responsible for|in charge of|on-?call (?:this|"
            r"next|for|from)|taking over|the contact for)\b",
            r"\bi(?:'ll| will)? (?:now |also )?(?:own|maintain|look after|lead|manage) (?:the|our|all)\b(?! "
            r"(?:book|copy|game|car))",
            r"我(?:是|以后|现在|将|主要|这边|目前|来)*(?:负责|接手|主管|值班|管)(?!喂|吃|玩|"
            r"睡)\s?[\w\u4e00-\u9fff]{2,}",
            r"我是(?:新来的|新的|这边的|咱们的)?[\w\u4e00-\u9fff ]{0,12}(?:工程师|负责人|经理|设计师|产品|测试|"
            r"运维|管理员|组长|实习生)",
            r"(?:私|僕|わたし)(?:が|は).{1,30}(?:担当(?:です|します|になりました)?|責任者)",
            r"\bich bin (?:ab (?:jetzt|sofort|heute) |jetzt |neu )?(?:zuständig für|verantwortlich für|"
            r"der neue|die neue)\b",
            r"\bich (?:betreue|leite|verantworte)\b",
        ),
    ),
)
"""What a person says of their own part."""

ROLES_GIVEN = (
    Cue(
        Kind.ROLE,
        Firmness.EXPLICIT,
        cue(
            r"(?:^|[,.:;]\s*|\b(?:and|that|so) )@?(?P<who>(?-i:[A-Z])[\w.-]{1,30}|@[\w.-]{2,30}) (?:is|will be|"
            r"becomes|'s) (?:now |also )?(?:responsible for|in charge of|the (?:new )?(?:owner|lead|maintainer|"
            r"contact|manager|admin|point person)\b|on-?call)",
            r"(?:^|[,.:;]\s*|\band )@?(?P<who2>(?-i:[A-Z])[\w.-]{1,30}) (?:owns|maintains|leads|takes over|"
            r"will take over|will own|is taking over|looks after|manages) (?:the |our |all )?[a-z]",
            rf"(?:^|[,.:;]\s*|\band )@?(?P<who9>(?-i:[A-Z])[\w.-]{{1,30}}) is (?:now )?(?:our|the) (?:new |acting )?"
            rf"(?:[\w-]+ ){{0,2}}{_POST}\b",
            rf"\bthe (?:[\w-]+ ){{0,2}}{_POST} is (?:now )?(?P<who3>me|@?(?-i:[A-Z])[\w.-]{{1,30}})\b",
            r"(?:由|以后|从.{1,6}起[，,]?|今后)\s?@?(?P<who4>[\u4e00-\u9fffA-Za-z]{1,8}?)(?:来)?(?:负责|接手|"
            r"主管)\s?[\w\u4e00-\u9fff]{2,}",
            r"(?<!我)(?<![我你谁])@?(?P<who5>(?!谁|我|你|他|她|哪)[\u4e00-\u9fffA-Za-z]{2,4}?)(?:现在|"
            r"以后)?(?:负责|接手)(?!人)[\w\u4e00-\u9fff ]{2,}",
            r"(?:管理员|负责人|对接人|值班人?|接口人|审批人)(?:现在|以后|账号)?是(?!谁|什么|"
            r"哪)\s?(?P<who6>[\w\u4e00-\u9fff@]{1,16})",
            r"(?P<who7>[\w\u3040-\u30ff\u4e00-\u9fff]{1,10})さんが.{1,30}担当",
            r"\b(?P<who8>(?-i:[A-ZÄÖÜ])[\wäöüß-]{1,30}) (?:kümmert sich (?:ab .{1,20} )?um|ist (?:ab .{1,20} |"
            r"jetzt )?(?:zuständig|verantwortlich) für|übernimmt)\b",
        ),
    ),
)
"""What is said of another person's part, or of who holds a post."""

POWER = cue(
    r"\b(?:approver|admin(?:istrator)?|owner|root|superuser|authori[sz]ed|allowed to|permission|approve[sd]?|"
    r"in charge|boss|sign[- ]?off)\b",
    r"审批|管理员|权限|授权|批准|老大",
    r"承認|権限|管理者",
    r"\b(?:genehmigt|freigabe|befugt|administrator)\b",
)
"""Words of power: who says that someone holds it is written down as their claim, never as a fact."""

_POWERFUL = r"(?:approver|admin(?:istrator)?|owner|superuser|boss)"
POWER_HELD = cue(
    rf"\b(?:the|our) (?:[\w-]+ ){{0,3}}{_POWERFUL}s? (?:of [\w -]{{1,30}} )?(?:is|are|will be) (?:now )?"
    r"(?!at\b|on\b|in\b|under\b|a\b|an\b|the\b|not\b|to\b)@?\w",
    rf"\w (?:is|are|will be|becomes?) (?:now |also )?(?:the|our|an?) (?:[\w-]+ ){{0,3}}{_POWERFUL}s?\b",
    r"\w (?:is|are) (?:now |also )?(?:allowed|authori[sz]ed|permitted) to\b",
)
"""Somebody is said to hold power, whatever the name looks like (`the deploy approver is eve`)."""

CONTACTS = (
    Cue(
        Kind.CONTACT,
        Firmness.EXPLICIT,
        cue(
            r"\b(?:contact|reach|call|e-?mail|phone|hotline|on-?call|support|write to|"
            r"ask)\b.{0,60}(?:(?<![/\w])[\w.+-]{1,60}@[\w-]{1,60}\.[\w.]{2,20}|(?<![\w/#.,=-])\+?\d[\d "
            r"()/-]{6,20}\d(?![\w/.]))",
            r"(?:(?<![/\w])[\w.+-]{1,60}@[\w-]{1,60}\.[\w.]{2,20}|\+\d[\d ()/-]{6,20}\d).{0,40}\b(?:is (?:the|"
            r"our|my)|for (?:questions|support|outages))\b",
            r"\b(?:the|our|your|my) (?:[\w-]+ )?contact (?:for|at|person)\b.{0,40} is\b",
            r"(?:联系人|联系方式|值班|电话|手机|邮箱|微信|热线)[^？?。]{0,20}(?:是|:|：|，|"
            r",)?\s?[^？?。]{0,12}(?:\d{6,}|[\w.+-]{1,60}@[\w-]{1,60}\.\w|[张王李赵刘陈杨黄周吴][工总经]|@\w)",
            r"(?:有问题|有事|出问题)(?:请|就)?(?:找|联系)(?!谁|他|她|我们)[@\w\u4e00-\u9fff]{2,}",
            r"(?:連絡先|窓口)は.{2,}",
            r"\b(?:ansprechpartner(?:in)?|kontakt|erreichbar unter|telefon)\b.{0,40}(?:@|\d{5,}|\bist\b)",
        ),
    ),
)

_DEALING = (
    r"(?:reviews?|prs?|comments?|meetings?|calls?|e-?mails?|dms?|messages?|pings?|threads?|slack|discord|answers?|"
    r"repl(?:y|ies)|summar(?:y|ies)|standups?|mornings?|afternoons?|evenings?|async|video|voice|text|chat|"
    r"lists?|bullet|"
    r"english|german|chinese|japanese|names?|pronouns?|mentions?|notifications?|time ?zone|feedback|updates?|"
    r"docs?|tickets?)"
)

PREFERENCES = (
    Cue(
        Kind.PREFERENCE,
        Firmness.EXPLICIT,
        cue(
            r"\bi(?:'d| would|'d much| would much)? (?:really |strongly |usually |always |"
            rf"generally )?prefer\b.{{0,80}}\b{_DEALING}\b",
            rf"\bi(?:'d| would) rather (?:have|get|not|do|you)\b.{{0,80}}\b{_DEALING}\b",
            r"\bmy pronouns are\b|\bplease call me\b|\bcall me (?-i:[A-Z])\w+\b(?! (?:later|back|when|if))",
            r"\bplease (?:don't|do not|never|only|always) (?:dm|ping|call|mention|message|email|@) me\b",
            r"我(?:更|比较|还是更)?(?:喜欢用|习惯用|偏好|倾向于|喜欢通过|更喜欢).{2,40}(?:邮件|消息|会议|电话|"
            r"评论|文档|线上|语音|文字|沟通|确认|群|私聊|英文|中文|回复|早上|下午|飞书|钉钉)",
            r"(?:请|麻烦)?(?:以后)?叫我[\w\u4e00-\u9fff]{1,8}(?:就好|就行|吧)",
            r"(?:のほうが|の方が)(?:好き|助かり|ありがたい|いいです)",
            r"\b(?:ich bevorzuge|mir (?:ist|sind|wäre|wären) .{1,60}lieber|bitte (?:keine|nur) .{2,40} an mich|"
            r"nennt mich)\b",
        ),
    ),
)
"""How a person wants to be dealt with; opinions about things are none."""

REMEMBER = cue(
    r"(?:^|[,;:.!–—-]\s*|\b(?:please|pls|and|also|so|but|btw|hey|ok)\s+)(?:@?remem[,:]?\s+)?(?<!do you )(?<!can you )"
    r"remember\b(?:\s*[:,]\s*|\s+(?:this\s*:\s*|that\s+(?!at\b|in\b|on\b|day\b|time\b|one\b|when\b|night\b|guy\b)"
    r"|(?=it'?s\b|the\b|my\b|our\b|we\b|i\b|to\b|(?-i:[A-Z@\d])|there\b|this is\b|all\b|every|never\b|always\b))\s*)",
    r"^\W*note to self\s*:\s*|\b(?:please|pls) note(?:\s*:\s*| that )|(?:^|[,;:.!]\s*)(?:please |"
    r"pls )?(?:keep in mind(?: that|:)\s*|don't forget(?: that|:)\s+)",
    r"(?:^|[，,。！!：: ]|请|帮我|麻烦|大家)(?:记住|记一下|记下来?|记得|备忘|别忘了?|牢记)(?:了|哦|啊)?"
    r"(?!记得|了吗|那年|那次|那时|当年|吗|我们那|得)\s*[:：，,]?\s*",
    r"(?:覚えておいて|覚えて|メモして|メモ)(?:ください|ね)?\s*[:：、]\s*",
    r"(?:^|[,.]\s*)(?:bitte )?(?:merk(?:e|t)? (?:dir|euch)(?: bitte)?|nicht vergessen|denk(?:t)? "
    r"(?:bitte )?dran|notier(?:e|t)?(?: bitte)?)\s*(?:,\s*dass|[:,])?\s+",
)
"""An explicit wish that something be kept; what follows is the fact."""

REMEMBER_AFTER = cue(
    r"^(?P<fact>.{8,300}?)\s*[,;.–—-]+\s*(?:so )?(?:please |pls )?remember (?:that|this|it)(?: please)?\W*$",
    r"^(?P<fact2>.{4,200}?)[，,]\s*(?:请|帮我|大家)?(?:记住|记一下|别忘了)(?:了|哦|啊|哈)?\W*$",
    r"^(?P<fact3>.{6,200}?)[,.]\s*(?:bitte )?merk dir das\W*$",
)
"""The wish stands behind the fact."""

REMEMBER_TO = re.compile(r"to\s+", re.IGNORECASE)
"""`remember to …` asks for a deed, not for memory."""

DO_NOT_FORGET = re.compile(r"(?:记得|别忘了?)\s*$")
"""So do these, where no colon follows."""

MINE = cue(r"\bmy\b|\bi(?:'m| am|'ve)?\b", r"我", r"私|僕", r"\b(?:mein\w*|ich)\b")
