"""Cues of how people take what was said: agreement, objection, retraction, correction, joke, supposition.

Also here: what is said to the bot about the bot. Whoever tells it how to answer is not stating a fact.
"""

from __future__ import annotations

import re

from memory_core.extract.cue import FILLER, cue

AGREE = cue(
    FILLER + r"(?:\+1|agreed?|i agree|yes|yep|yeah|yup|sure|(?:absolutely|definitely|exactly)(?! (?:had|has|have|was|"
    r"were|is|are|an?|the|not)\b)|deal|lgtm|sgtm|perfect|"
    r"great(?: idea| plan)?|good (?:idea|plan|call|point)|sounds (?:good|great|fine|right|like a plan)|makes sense|"
    r"works for me|fine (?:by|with) me|fine|ok (?:by|with|for) me|me too|same here|i'm (?:in|for it|ok with|"
    r"fine with|on board)|"
    r"count me in|all for it|go (?:ahead|for it)|(?:let's )?do it|ship it|i like|love (?:it|that|the)|in favou?r|"
    r"no objections?|\w+ it is|settled|so be it|approved|seconded|\+\+)(?!\w)(?!,? but\b)(?! what\b)",
    r"\b(?:works for me|fine (?:by|with) me|ok (?:with|by|for) me|i'm (?:for it|in favou?r)|let'?s do (?:it|"
    r"that|this)|i agree|(?:ok|okay|good|fine) here too|all for (?:it|that)|\+1)\b(?!,? but\b)",
    r"👍|🙌|💯|👌",
    r"✅",
    FILLER + r"(?:同意|赞成|赞同|支持|没问题|没意见|可以(?!吗)|行(?:的|啊|吧)?(?=$|\W)|好(?:的|啊|呀|主意)?(?=$|\W)|"
    r"附议|就这么(?:办|定|干)|"
    r"那就这么(?:办|定)|我觉得(?:可以|行|没问题|不错)|挺好|不错|赞(?=$|\W)|明白(?=$|\W))",
    r"(?:可以|没问题)[，,]?(?:就这么(?:办|定))|就这么(?:定了|办)|我也同意|没有异议",
    r"賛成|いいと思います|いいですね|異議なし|そうしましょう|それでいきましょう|同意です",
    FILLER
    + r"(?:einverstanden|bin dafür|dafür|passt|gute idee|machen wir|klar|gerne?|abgemacht|stimme zu|klingt gut|"
    r"ja(?=\W|$))",
)
"""Someone is for it."""

STRONG = cue(
    r"\+1|\b(?:i )?agreed?\b|\b(?:works for me|sounds good|in favou?r|i'm for it|all for it|go for it|fine "
    r"(?:by|with) me)\b",
    r"👍",
    r"同意|赞成|赞同|没意见|附议|这么[定办]|賛成|異議なし",
    r"\b(?:einverstanden|dafür|stimme zu)\b",
)
"""Agreement that answers no question: it reaches over one that someone else asked in between."""

ACKNOWLEDGE = cue(
    FILLER + r"(?:ok(?:ay)?|k|kk|alright|noted|got it|cool|will do|on it|roger|ack|nice|right)(?=$|\W)(?!,? but\b)",
    FILLER + r"(?:收到|好|嗯|了解|知道了|明白)",
    FILLER + r"(?:了解|承知|わかりました|かしこまりました)",
    FILLER + r"(?:ok|alles klar|verstanden|super|gut)(?=$|\W)",
)
"""Someone takes note; directly after a proposal it counts as agreement."""

OBJECT = cue(
    FILLER + r"(?:no(?!t bad| problem| objection|w|ted|thing)\b|nope|nah|-1|disagree|i disagree|i'm against|against|"
    r"not (?:sure|convinced|a fan|yet)|"
    r"over my dead body|please (?:no|don't)|don't|wait|hmm wait|but\b|bad idea|veto|i'd rather not)(?!\w)",
    r"👎",
    r"\b(?:i disagree|i'm against|bad idea|i'd rather not|i don't (?:think|like|agree|want)|would break|"
    r"that breaks)\b",
    r"\b(?:yes|yeah|ok|fine|sure),? but\b",
    FILLER + r"(?:不行|反对|不同意|不要|别|不太好|不好|不赞成|我不(?:觉得|想|同意)|等等|等一下|但是)",
    FILLER + r"(?:反対|やめ|いや|ちょっと待)",
    FILLER + r"(?:nein|dagegen|nee|lieber nicht|bloß nicht|moment|ja,? aber)\b",
)
"""Someone is against it."""

ACTED = cue(
    r"\b(?:i(?:'ve| have)?(?: just| already| now)|just|already) (?:[a-z]+ed|set|put|made|did|cut|sent|wrote|"
    r"began|took|moved)\b(?! (?:up|in) (?:late|bed))",
    r"\b(?:i'll|i will|i can) (?!see|look|think|try|pass|be\b|wait)[a-z]+\b",
    r"^\W*(?:done|on it)\b",
    r"我(?:已经|刚|刚刚|这就|来|去|马上|今天|明天|周末)",
    r"(?:しました|やります|対応します)",
    r"\b(?:hab(?:e)? (?:ich )?(?:schon|gerade|eben)|ich mache|mach ich|erledigt)\b",
)
"""Someone acts on it, or takes it on."""

CLOSE = cue(
    r"^(?:ok(?:ay)?|alright|great|cool|good|so|then|and|perfect|right|\W)*(?:it'?s )?(?:settled|decided|agreed|"
    r"deal|done deal|so be it)\b[\w ,!]{0,12}$",
    r"^\W*(?:好|那|ok|行|嗯|，|,|\s)*(?:就)?这么(?:定|办)(?:了|吧)|^\W*(?:好|那|ok|，|,|"
    r"\s)*(?:就)?定(?:下来)?了[!！。]?$",
    r"^\W*(?:では|じゃあ)?(?:それで)?(?:決まり|いきましょう|決定)(?:ですね)?\W*$",
    r"^\W*(?:gut|ok|dann)?[\s,]*(?:abgemacht|beschlossen|so machen wir(?:'s| das))\W*$",
)
"""Someone closes the matter."""

RETRACT = cue(
    r"\b(?:scratch that|never ?mind|nvm|(?<!don't )(?<!not )forget (?:it|that|about it|i said|the)|cancel that|"
    r"undo that|disregard|on second thoughts?|i changed my mind|changed my mind|take that back|strike that|"
    r"belay that|wrong channel|ignore (?:that|my last)|no longer (?:true|valid)|call it off|called off)\b",
    r"^\W*(?:wait,? |hm+,? |ah,? )?actually,? (?:no|let'?s not|not)\b",
    r"\bactually no\b|\blet'?s not after all\b",
    r"\b(?:just kidding|jk|j/k|kidding|was a joke|only joking)\b",
    r"(?:^|\s)/s\b",
    r"算了|还是不|先不|不要了|取消(?:吧|了|这个)|撤回|作废|当我没说|改主意|开玩笑的?|说着玩|收回",
    r"やっぱり?(?:やめ|なし|いい)|取り消|忘れてください|冗談",
    r"\b(?:doch nicht|vergiss (?:es|das)|vergesst (?:es|das)|quatsch|zurück(?:gezogen)?|war (?:ein|nur) "
    r"(?:scherz|witz)|hat sich erledigt)\b",
)
"""What was said before is taken back."""

KEEP = cue(
    r"\b(?:let'?s|we'?ll|we will) (?:just )?(?:stay|stick|keep|go|remain|use|take|do)\b.{2,}",
    r"\b(?:use|take|make it)\b.{2,}\binstead\b",
    r"还是(?:用|选|走)?.{1,40}(?:吧|好了|算了)|(?:改|换)(?:成|用|回).{1,40}",
    r"やっぱり.{1,40}(?:に|で)",
    r"\b(?:bleiben|lieber|nehmen)\b.{2,}",
)
"""A retraction names what holds instead."""

_AT = r"(?:am|um|im|in|auf|bis|ab|bei|zum|dem|den|der|die|das)"

CORRECT = cue(
    r"(?:^|\s)(?P<new6>\S*\d\S*(?: (?:am|pm|uhr))?),? not (?P<old6>\S*\d\S*)(?=[\s.,;!]|$)",
    r"\b(?:sorry|no|oops|typo|correction|i meant?)\b.{0,20}?(?P<new>\S+(?: \S+){0,3}?),? not "
    r"(?P<old>\S+(?: \S+){0,2}?)(?=[\s.,;!]|$)",
    r"(?:不对|不是|错了|更正|说错了?|"
    r"纠正)[^，,。]{0,6}[，,：:]?\s*(?:应该)?是(?P<new2>[^，,。！!]{1,20})[，,]?\s*(?:而)?不是(?P<old2>[^，,。！!]{1,20})",
    r"(?:不是|不对)[，,]?\s?(?P<old3>[^，,。！!]{1,20})[，,]\s*(?:而|应该)?是(?P<new3>[^，,。！!]{1,20})",
    r"(?P<old4>[^、。\s]{1,20})(?:ではなく|じゃなくて)、?(?P<new4>[^、。\s]{1,20}?)(?:です|に|$)",
    rf"\bnicht (?:{_AT} )?(?P<old5>\S+(?: Uhr)?),? sondern (?:{_AT} )?(?P<new5>\S+(?: Uhr)?)",
)
"""One value is put in place of another."""

CORRECT_VALUE = cue(
    r"^\W*(?:no,? wait|sorry|oops|correction|typo|i meant?|make (?:that|it)|rather|\*)[,:\s*]*(?:i "
    r"(?:meant?) )?(?:it'?s |at )?(?P<value>\d[\d.:,/-]*\S{0,4})\W*$",
    r"^\W*(?:更正|说错了?|不对|抱歉)[，,：:\s]*(?:应该)?是?(?P<value2>\d[\d.:,/-]*\S{0,4})\W*$",
)
"""A bare new value (`sorry, 15:00`)."""

JOKE = cue(
    r"\b(?:lol|lmao|rofl|haha+|hehe+|jk|j/k|just kidding|kidding|xd)\b",
    r"(?:^|\s)/s(?:\s|$)|;-?\)|:-?p\b|\b233+\b",
    r"😂|🤣|😜|😝|🙃|😆|哈哈|呵呵|嘻嘻|笑死|开玩笑|狗头|(?:^|[^\w])(?:笑|www+|草)\W*$",
)
"""Not meant; a decision, task or role said so is none."""

SUPPOSE = cue(
    r"\bwhat if\b|\bif (?:we|i|you|it|they|there|the|only|someone|anyone)\b|\b(?:maybe|perhaps|might|possibly|"
    r"hypothetically|imagine|suppose|supposing|wondering|i wonder|thinking out loud|just musing|someday|"
    r"one day|in theory|would be (?:nice|cool|great|fun|so)|could be|wouldn't it)\b",
    r"如果|要是|假如|假设|万一|也许|或许|说不定|可能(?!性)|要不|到时候|想象一下|将来|理论上",
    r"もし|たら(?:いい|どう)|かもしれ|かも(?:$|\W)",
    r"\b(?:wenn wir|falls|vielleicht|eventuell|angenommen|man könnte|könnte man|irgendwann|theoretisch)\b",
)
"""Only supposed."""

PROPOSING = cue(
    r"\b(?:propose|suggest|should|could|would|can we|want|wants|hope|hoping|ask(?:ed)? (?:for|to))\b",
    r"建议|提议|提案|希望|能否|能不能|想",
    r"\b(?:vorschlag\w*|schlage|sollte\w*|könnte\w*)\b",
)
"""In front of a decision's words: it is only wished for."""

UNDECIDED = cue(
    r"\b(?:no|none of the) (?:\w+ ){1,3}(?:is|are|was|were|has been) (?:approved|decided|chosen|selected|"
    r"confirmed)\b",
    r"\b(?:haven't|hasn't|have not|has not|not|never|didn't|did not|yet to|to be|need to|needs to|have to|"
    r"can't|cannot|until (?:we|it)|still|once|before|when|should|who|how|what|did|if|whether)(?: \w+){0,3} "
    r"(?:decide|decided|resolved|chosen|agreed|agree)\b",
    r"\b(?:undecided|tbd|open question|no decision|decision (?:pending|open)|pending decision)\b",
    r"(?:还|尚|没|未|没有|暂)(?:没|未|没有)?(?:有)?(?:决定|定(?:下来)?|确定|敲定|商定|结论)|决定不了|怎么决定|"
    r"谁决定|取决|不确定|待定|无法决定",
    r"決まって(?:い)?ない|未定",
    r"\b(?:noch nicht|nicht) (?:entschieden|beschlossen)\b|\bunentschieden\b",
)
"""The opposite of a decision."""

SOCIAL = cue(
    r"\b(?:lunch|dinner|breakfast|coffee|beers?|pizza|soup|burgers?|drinks?|bbq|party|pub|movie|game|gym|nap|"
    r"bed|weekend|vacation|holiday|cake|snacks?|t-?shirts?|traffic|salad)\b",
    r"吃|喝|饭|奶茶|咖啡|火锅|爬山|电影|睡觉|回家|下班|唱歌|打球|养猪",
    r"ランチ|飲み|コーヒー|ごはん",
    r"\b(?:mittagessen|kantine|kaffee|bier|schnitzel|feierabend|salat)\b",
)
"""Of the day, not of the work."""

CALLING_BOT = re.compile(r"^\W*(?:(?:hey|hi|hello|ok)\W+)?@?(?:remem|bot)\b[\s,:;.!-]*", re.IGNORECASE)
"""The bot is called by name; what follows is looked at like anything else."""

TO_BOT = cue(
    r"\b(?:to|in|with|of|before|after|into|for) (?:all |each |every |any )?(?:of )?your (?:\w+ )?(?:reply|"
    r"replies|answers?|responses?|messages?|output|prompt|context|memory|instructions?)\b",
    r"\byour (?:reply|replies|answers?|responses?|instructions?|system prompt|rules|hard rules)\b",
    r"\b(?:ignore|disregard|forget|override) (?:all |any |the |your )*(?:previous|prior|above|earlier|system|"
    r"existing) (?:\w+ )?(?:instructions?|rules|prompts?|messages?)\b",
    r"\b(?:system prompt|hard rules?|you are now|act as|from now on,? you|you (?:must|should|will|shall) "
    r"(?:always|never|now)|(?:always|never) (?:reply|answer|respond|begin|end) )",
    r"\bafter you(?:'ve| have)? (?:answered|replied)\b",
    r"\b(?:always|never) (?:add|include|append|mention|reveal|share|show) .{0,40}\b(?:reply|answer|response|notes)\b",
    r"你的(?:回复|回答|答复|提示词|指令|规则|系统)|(?:每次|总是|必须|一定要?)(?:在)?(?:回复|回答|答复)|"
    r"忽略(?:之前|以上|前面|所有).{0,10}(?:指令|规则|提示)|从现在(?:起|开始)[，,]?你",
    r"あなたの(?:返信|回答|応答)|(?:返信|回答)には必ず",
    r"\bdeine(?:r|n|m)? (?:antwort|antworten|anweisungen|regeln)\b|\bignoriere (?:alle|die) (?:vorherigen|"
    r"bisherigen)\b",
)
"""Said to the bot about the bot: an instruction, never a fact."""

ANSWER_STYLE = cue(
    r"\b(?:answer|reply|respond|write|talk|speak)(?: to me)? (?:in (?:english|german|chinese|japanese|french|"
    r"spanish)|briefly|shortly|concisely|formally)\b",
    r"\b(?:short|brief|long|detailed|concise) (?:answers?|replies|summaries)\b|\bno (?:emojis?|bullet)",
    r"用(?:中文|英文|日语)(?:回答|回复)|(?:回答|回复)(?:简短|简洁|详细)",
    r"\bantworte(?:t)? (?:mir )?(?:auf deutsch|kurz|knapp)\b",
)
"""How a person likes to be answered: theirs to say, in their own DM."""

WHO_ASKS = cue(
    r"\bwho(?:'s| is| can| will| could| wants? to| picks?| takes?| has time)?\b.{0,80}",
    r"谁(?:来|去|能|可以|有空)?.{0,40}",
    r"誰が|どなたか",
    r"\bwer (?:kann|(?!ist\b|hat\b|weiß\b|sagt\b|kommt\b|geht\b|kennt\b|isst\b|fährt\b|trinkt\b)\w{3,}t\b)",
)
"""Someone looks for somebody to do it."""

IMPORTANT = cue(
    r"\b(?:important|critical|crucial|key decision|high priority|must not forget)\b|!!",
    r"重要|关键|务必|重大",
    r"大事|重要",
    r"\b(?:wichtig|entscheidend)\b",
)
"""Marked as weighty by the speaker."""

ARCHITECTURAL = cue(
    r"\b(?:architecture|databases?|postgres\w*|mysql|mongo\w*|redis|kafka|rabbitmq|queue|schema|protocol|"
    r"framework|languages?|infrastructure|infra|cloud|aws|gcp|azure|kubernetes|k8s|terraform|api|graphql|rest|"
    r"grpc|auth\w*|sso|storage|s3|cache|sessions?|platform|monorepo|micro-?services?|backend|frontend|"
    r"migrat\w+|encryption|region|on-prem\w*|tenant\w*)\b",
    r"架构|数据库|缓存|框架|迁移|协议|存储|微服务|语言|平台|消息队列|接口|前端|后端|集群",
    r"アーキテクチャ|データベース|基盤|移行",
    r"\b(?:architektur|datenbank|plattform|schnittstelle)\b",
)
"""Words of a decision that shapes the system."""

VOLUNTEER = cue(
    r"^(?:\W|\b(?:ok|sure|yes|yeah|alright|fine)\b)*(?:i(?:'ll| can| will|'d be happy to)? (?:do|take|handle|"
    r"pick)(?: up)? (?:it|that|this|those)?\b|on it\b|me\W*$|mine\b|i can\W*$)",
    r"^\W*我(?:来|去)?(?:吧|弄|做|改|写|处理|搞)?(?:吧)?\W*$",
    r"(?:私|僕)がやります|やっておきます",
    r"^\W*(?:mach ich|ich mache? das|das mache ich|übernehme ich)\b",
)
"""Someone takes the thing that was asked for."""
