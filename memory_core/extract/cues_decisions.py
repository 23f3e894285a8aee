"""Cues of decisions, agreements, proposals, and of the facts that a project stands on."""

from __future__ import annotations

from memory_core.extract.cue import START, Cue, Firmness, cue
from memory_core.extract.switching import SWITCHED
from memory_core.layouts import Kind

_BODIES = (
    r"(?:we|the team|team|board|the board|management|leadership|legal|marketing|product|finance|security|"
    r"ops|sales|hr|the customer|the client|the boss|the committee|the group|the company|everyone)"
)
_FIXED = (
    r"(?:budget|deadline|launch|launch date|release|release date|go-?live|target date|review date|due date|"
    r"start date|"
    r"price|discount|stipend|kick-?off|milestone|cut-?over|demo|weekly|retro|standup|stand-up|contract|vendor)"
)
"""What a team fixes, and then says that it is so."""
_HAVE = r"(?:'ve| have| has)?(?: all| both| just| now| finally| already| also| then)?"

DECISIONS = (
    Cue(
        Kind.DECISION,
        Firmness.LABEL,
        cue(
            START + r"(?:final |our |the )?decisions?(?: from [\w ]{1,30}| made| taken)?\s*[:：=]\s*",
            START + r"(?:final |our |the )?decision\s+[-–—]+\s+",
            START + r"(?:decided|resolved)\s*[:：]\s*",
            START + r"(?:(?:最终|最后|会议)?(?:决定|决议|结论|定论)(?:是|如下)?\s*[:：]\s*)",
            START + r"(?:[^、。]{1,12}の件、?)?(?:決定(?:事項)?|結論)(?:です)?\s*[:：]\s*",
            START + r"(?:entscheidung|beschluss|beschlossen)\s*:\s*",
        ),
        whole=False,
    ),
    Cue(
        Kind.DECISION,
        Firmness.EXPLICIT,
        cue(
            rf"\b{_BODIES}{_HAVE} (?:decided|resolved|voted|settled on|chosen|chose|opted)\b(?! yet)",
            r"\b(?:it'?s|it is|it was|it has been|that'?s) (?:now )?decided\b(?: that)?",
            r"\bthe decision (?:is|was|has been made|was made|stands)\b",
            r"\bwe'?(?:re| are) (?:now )?(?:going|sticking|staying|moving ahead) with\b",
            START + r"(?:going|sticking) with\b(?! the)",
            r"\bfinal (?:answer|decision)\b",
            rf"\b{_FIXED} (?:is|are|was|were|has been|have been|got|gets)(?: now| officially)? "
            r"(?:approved|moved to|postponed to|pushed to|shifted to|rescheduled to|set (?:to|for)|changed to|"
            r"confirmed)",
            rf"\b{_FIXED} (?:is|moves to|moved to|changes to) now (?:at |on |the )?[\w€$]*\d",
            rf"\b{_FIXED} (?:is now|moves to|moved to|changes to) (?:at |on |the )?[\w€$,. ]{{0,12}}\d",
            r"^(?!.{0,60}(?:建议|提议|提案|想把|能否|能不能|要不)).{0,30}(?<![把将])"
            r"(?:预算|截止日期|上线时间|上线日期|发布时间|发布日期|评审|例会|周会|价格|折扣|发版)[^，,。？?]{0,8}"
            r"(?:改到|推迟到|提前到|定为|定在|改为|调整为|延期到|批了|已批准)",
            r"\b(?:budget|termin|frist|release|preis|start) (?:ist|wird|wurde)(?: jetzt| nun)? "
            r"(?:auf .{2,40} (?:verschoben|gelegt|festgesetzt)|genehmigt)",
            START + r"(?:最终|最后|已经?|现已|经讨论|大家|会上|会议|团队|公司|领导|老板|产品|我们)*(?:一致)?(?:决定|"
            r"敲定|拍板|商定|议定|确定)(?:了|把|将|是|要|用|在|由|从|先|不|采用|使用|改|让|对|[A-Za-z0-9])",
            r"(?:我们|大家|团队|公司|领导|老板|会上|会议|经讨论)[\w，, ]{0,8}(?:决定|敲定|拍板|商定|确定)(?:了|"
            r"要|把|将|用|由|从|先|不|采用|使用)?",
            START + r"定(?:下来)?了[，,：:]",
            r"(?:最终|最后|今天|会上|已经|终于)[^，,。]{0,6}定(?:下来|好)(?:了)?(?:用|是|要|在|选)",
            r"^(?!.{0,60}(?:提案|希望|たい)).{0,20}(?:納期|期限|締め?切り?|予算|価格|発売日|公開日|開始日|リリース日?|"
            r"定例|打ち合わせ)[^、。]{0,10}[はが][^、。？?]{1,30}[にへ](?:変更|延期|前倒し|決定|変わり|延び|なり)"
            r"(?:に|と)?(?:なりました|なった|しました|ました|です)",
            r"(?:ことに|に)(?:決めました|決めた|決定しました|決定です|決まりました|決まった|しました。?$)",
            r"\b(?:wir haben|das team hat|es wurde|der chef hat|die leitung hat|"
            r"die gruppe hat)\b.{0,60}\b(?:beschlossen|entschieden|festgelegt)\b",
            r"\bwir (?:nehmen jetzt|bleiben bei|entscheiden uns für)\b",
        ),
    ),
    Cue(Kind.DECISION, Firmness.EXPLICIT, SWITCHED),
)

AGREEMENTS = (
    Cue(
        Kind.AGREEMENT,
        Firmness.LABEL,
        cue(
            START + r"(?:agreed|agreement|convention|our convention|working agreement)(?: then)?\s*[:：]\s*",
            START + r"(?:约定|共识|规范|团队约定)\s*[:：]\s*",
            START + r"(?:合意|取り決め)\s*[:：]\s*",
            START + r"(?:vereinbarung|abmachung)\s*:\s*",
        ),
        whole=False,
    ),
    Cue(
        Kind.AGREEMENT,
        Firmness.EXPLICIT,
        cue(
            rf"\b{_BODIES}{_HAVE} agreed (?:to|on|that)\b",
            r"\bas agreed[,:] ",
            r"(?:我们|大家|已经?|已)(?:约定|说好|商量好|达成一致)(?:了)?[，,：:]?",
            r"\bwir haben (?:vereinbart|ausgemacht|uns geeinigt)\b",
            r"ことで合意しました",
        ),
    ),
    Cue(
        Kind.AGREEMENT,
        Firmness.PROPOSED,
        cue(
            r"\bcan we (?:all |please )?agree (?:that|to|on)\b",
            r"\b(?:let'?s|we should|everyone should) (?:all )?agree (?:that|to|on)\b",
            r"(?:我们|大家)(?:来)?约定(?:一下)?[，,：:]?",
            r"\bkönnen wir uns (?:darauf )?einigen\b",
        ),
    ),
    Cue(
        Kind.AGREEMENT,
        Firmness.HINTED,
        cue(
            r"^\W*(?:please,? )?no more .{8,}",
            r"^\W*please,? (?:everyone|everybody|nobody|no one) .{8,}",
            r"\b(?:everyone|everybody|nobody|no one) (?:should|must|has to|may|merges|deploys|commits|pushes|"
            r"reviews) .{6,}",
            r"(?:大家|所有人)(?:都|一律|务必|请).{3,}",
        ),
    ),
    Cue(
        Kind.AGREEMENT,
        Firmness.EXPLICIT,
        cue(
            START + r"from now on,? (?:we|everyone|all|every|no|please|nobody|each)\b",
            r"\b(?:we|everyone|nobody) .{3,80}\bfrom now on\b",
            START + r"(?:从现在起|从今天起|今后|以后)(?:我们|大家|都|统一|所有|一律|每)",
            START + r"今後は",
            START + r"ab (?:jetzt|sofort|heute) (?:gilt|wird|werden|machen wir|nutzen wir)\b",
        ),
    ),
)

PROPOSALS = (
    Cue(
        Kind.DECISION,
        Firmness.COMMITTED,
        cue(
            r"\blet'?s (?:just |then )?(?:go with|stay with|stick with|stick to|keep|settle on|switch to|"
            r"move to|adopt|use|drop|freeze|standardi[sz]e on|do (?:the|an?|both)\b)",
            r"\bwe(?:'ll| will)(?: just| now| then)? (?:use|go with|stay with|stick with|keep|move to|"
            r"switch to|drop|adopt)\b",
            START + r"(?:then )?let'?s (?:not|postpone|move|split|merge|make|have|run|skip|ship|release|deploy|"
            r"schedule|rename|remove|add|turn|put|store|write|set)\b",
            r"\bwe(?:'re not going to| won't| are not going to) (?:use|do|ship|build|move|migrate|support|release)\b",
            START + r"(?:那)?(?:就|咱们就|我们就)(?:用|选|上|定|按|走|采用|改成|改到)",
            r"(?:我们|咱们|直接|还是|统一|先)(?:用|选|上|走|采用|改用|换成|保持|改成|改到)[^？?]{1,40}吧",
            r"(?:那就|就|咱们|我们)\s?(?:go with|switch to|use)\s[^？?]{1,40}",
            r"[^？?]{2,40}(?:直接|统一)[^？?]{1,30}吧(?:[，,。!！]|$)",
            r"にしましょう|でいきましょう",
            r"\b(?:lasst?|lass) uns\b.{2,80}\b(?:nehmen|machen|bleiben|verwenden|nutzen|umstellen|verschieben)\b",
            r"\bwir (?:nehmen|nutzen|verwenden|machen) (?:dann|also|künftig)\b",
            START + r"(?:das|den|die|unser\w*) .{2,40} (?:machen|legen|verschieben|verlegen|halten) wir\b.{3,}",
        ),
    ),
    Cue(
        Kind.DECISION,
        Firmness.PROPOSED,
        cue(
            START + r"(?:(?:new |my |counter-?)?proposals?|motion|suggestion)\s*[:：]\s*",
            r"\b(?:i|i'd|i would|i'll) (?:like to |hereby |formally )?(?:propose|move that|vote (?:for|that|we))\b",
            r"\bi(?:'d| would)? suggest (?:that )?we\b",
            r"\bmy (?:proposal|suggestion|vote) (?:is|would be) (?:that we|for us|to|we)\b",
            r"(?:我|小弟|本人)?(?:建议|提议|提案)(?:一下)?[，,：:]?(?!你|您|楼主|看|试)",
            r"提案(?:です|ですが|があります|:|：)",
            r"\b(?:ich schlage vor|mein vorschlag|vorschlag\s*:|ich würde vorschlagen)",
        ),
    ),
    Cue(
        Kind.DECISION,
        Firmness.HINTED,
        cue(
            r"\bhow about (?:we|if we|moving|using|switching|having|making|doing|dropping|renaming)\b",
            r"\bwhat about (?:moving|using|switching|having|making|dropping|renaming)\b",
            r"\b(?:i think|i guess|i feel like|i'd say|imo|imho|honestly|probably|personally),? (?:that )?we "
            r"(?:should|could|need to|ought to|move|use|go|drop|keep|switch|stop|turn)\b",
            r"\bwe should (?:really |just |probably |all |also )?(?!discuss|talk|see|think|look|wait|ask|know|"
            r"check|consider)[a-z]{3,}\b",
            r"\b(?:should|shall) we (?:just |all |then )?(?:use|move|switch|go|drop|keep|rename|freeze|stop|"
            r"make|do|rotate|split)\b",
            r"\bwhy don'?t we\b",
            r"\b(?:anyone|anybody|someone) (?:against|opposed to)\b|\bany objections? to\b",
            r"我(?:觉得|认为|感觉|想)[，,]?.{0,30}(?:应该|可以|最好|we should|要不要)(?=.{2})",
            r"(?:要不|不如)我们",
            r"ませんか|のはどうでしょう|たほうがいいと思います",
            r"^\W*(?:also |dann |ok,? )?wir machen (?:das|die|den) .{5,}",
            r"\b(?:wir sollten|wie wäre es|sollen wir|wollen wir)\b",
        ),
    ),
)

FACTS = (
    Cue(
        Kind.STACK,
        Firmness.LABEL,
        cue(
            START
            + r"(?:(?:our|the|new) )*(?:tech(?:nology)? )?stack(?: for [\w ]{1,30}| is| will be)*\s*(?:[:：]|\bis\b)",
            r"技术栈(?:是|为|用的是)?\s*[:：]?|技術スタック(?:は|\s*[:：])",
            START + r"(?:unser |der )?(?:neue )?tech-?stack(?: (?:für|von|des|der) [\w ]{1,30})?\s*(?::|\bist\b)",
        ),
    ),
    Cue(
        Kind.ARCHITECTURE,
        Firmness.LABEL,
        cue(
            r"\b(?:the|our|system|overall|target) architecture(?: for [\w ]{1,30}| of [\w ]{1,30}|"
            r" now)?\s*(?:[:：]|\bis\b|\blooks like\b)",
            START + r"architecture\s*[:：]",
            r"(?:系统|整体|总体|目前的?|新)?架构(?:是|为|如下)?\s*[:：]|架构是|アーキテクチャは",
            r"\bdie architektur\s*(?::|ist|sieht so aus)",
        ),
    ),
    Cue(
        Kind.STACK,
        Firmness.STATED,
        cue(
            r"\b(?:we|our \w+)(?:'re| are| is)? (?:use|uses|using|run|runs|run on|runs on|running on|built on|"
            r"built with|written in|based on)\s+(?:\w+ )?(?-i:[A-Z])[\w.+#-]+",
            r"(?:我们|项目|后端|前端|服务)(?:现在|目前|都)?(?:用的?是|使用|用|跑在)\s?[A-Za-z][\w.+#-]+",
            r"\bwir (?:nutzen|verwenden|setzen) (?-i:[A-Z])[\w.+#-]+",
            r"[A-Za-z][\w.+#-]+ ?を使って(?:います|いる)",
        ),
    ),
    Cue(
        Kind.ARCHITECTURE,
        Firmness.STATED,
        cue(
            r"\b(?:talks? to|talk(?:s|ing)? with|calls|publishes to|reads from|writes to|sits behind|"
            r"goes through|is behind) .{2,60}\b(?:over|via|through|using)\b",
            r"通过.{1,30}(?:调用|通信|访问|同步)",
        ),
    ),
)

OWN_DECISIONS = (
    Cue(
        Kind.DECISION,
        Firmness.EXPLICIT,
        cue(
            r"\bi(?:'ve| have)?(?: just| now| finally)? (?:decided|chosen|settled on|chose|made up my mind)\b",
            r"\bi(?:'m| am) (?:going|sticking|staying) with\b",
            r"我(?:最终|最后|已经|还是)?(?:决定|选定|打定主意)(?!不了)",
            r"(?:ことにした|ことにしました|に決めた)",
            r"\bich habe (?:mich )?.{0,60}\b(?:entschieden|beschlossen)\b",
        ),
    ),
)
"""In a DM the person's own word settles."""
