"""Word lists for pages of one category each: decisions, lessons, tools. Their form is memory_core.lexicon's.

`experience` is one list for a page that holds decisions and lessons together. Where they stand apart, one list would
send every "why?" to both: so here what was chosen, planned or is to be written, what went wrong and was mended, and
what one works with, each have their own.
"""

from __future__ import annotations

STRONG, PLAIN, WEAK = 1.0, 0.65, 0.3

DECISIONS = {
    STRONG: """
decision|decided|decide|settled on|settle on|rationale|reason|conclusion|verdict|conclude|grounds|=why did|
=why do we|=why are we|=why aren't we|=why don't we|=why didn't we|=why not|=why we|=why our|=how come|=what did we|
=did we ever|=did we not|=didn't we|=what made us|=what led|=led us|=story behind|=history of|=we agreed on something|
=i think we agreed|=did we agree|=did we end up|=end up with|ended up|=used to|chose|choosing|picked|rejected|drop|
dropped|trade-off|pros and cons|moved away|move away|决定|决策|结论|怎么定|定的|拍板|选了|选型|放弃|依据|理由|
决定了什么|
決定|为什么我们|我们为什么|为什么不|为什么要|为什么选|为什么用|为什么没|为啥不|为啥要|为啥选|为啥用|为何不|
为何选|凭什么|不用了|砍掉|要砍|商量过|讨论过|当初|決めた|
決まった|決め|やめた|やめて|選んだ|結論|経緯|なぜ私たち|なんで使|なんでやめ|なぜ選|なぜ使|だった理由|
entschieden|entscheidung|grund|beschlossen|gewählt|warum haben wir|
warum wir|warum nicht|warum nutzen wir|warum benutzen wir|wieso haben wir|vereinbart hatten
""",
    PLAIN: """
discussed|discussion|chosen|choice|agree to|agreed|switch from|switched|moving to|migrate from|
architecture|讨论|选择|改成|换成|以前|議論|変えた|
diskutiert|diskussion|umgestiegen
""",
    WEAK: """
why|history|back then|before|once|wieso|weshalb|warum|为什么|为啥|为何|為什麼|なぜ|なんで|どうして|之前|最后|früher
""",
}
LESSONS = {
    STRONG: """
lesson|lessons|learned|root cause|postmortem|retro|retrospective|workaround|last time|=what went wrong|
went sideways|went wrong|go wrong|seen before|this before|=seen this|=had this|=before?|outage|incident|debug|
debugging|stack trace|traceback|exception|=what happened with|=what happened to|=what happened during|known fix|
known issue|gotcha|gotchas|pitfall|died again|again with|same error|flopped|=we tried|=we once|=tried * once|
=trouble with|=problems with|=issues with|=already solved|=solved that|=fixed that|crash|crashed|
教训|经验|踩坑|踩过|坑|根因|复盘|故障|上次|之前遇到|遇到过|怎么解决|怎么修|绕过|事故|宕机|教訓|經驗|怎么回事|
咋回事|咋搞的|怎么处理的|处理的|翻车|岔子|修法|上回|出过|教过训|调试|排查|报错|学んだ|障害|回避策|前にも|前回|
直し方|何があった|あの時|どう対応|どう直|何が原因|デバッグ|例外|ursache|lektion|gelernt|schon mal|letztes mal|
ausfall|fehler|umgehung|ausprobiert|was war da|schiefgelaufen|schief gelaufen|schiefging|debuggen
""",
    PLAIN: """
bug|fix|fixed|mistake|failed|failure|broke|broken|solved|solution|error|oom|died|flaky|leak|regression|
=did it work|=did that work|timed out|timeout|错误|问题|解决|修复|失败|试过|不稳定|泄漏|又挂|挂了|エラー|バグ|
直した|解決|失敗|問題|試した|試して|不安定|problem|lösung|gelöst|gescheitert|abgestürzt
""",
    WEAK: "again|issue|why is|nochmal|既に|又",
}
CODING = {
    STRONG: """
roadmap|write code|start coding|implement|implementing|refactor|build the feature|new feature|design doc|路线图|
写代码|开发|实现|重构|设计方案|規劃|规划|コードを書|実装|設計方針|リファクタ|ロードマップ|implementieren|umsetzen|
code schreiben|fahrplan
""",
    PLAIN: "plan|planning|feature|code|coding|design|计划|方案|功能|代码|計画|機能|コード|planen|entwurf|funktion",
    WEAK: "",
}
"""What is said at the start of writing code and of planning: it asks for decisions and for the project's context."""
TOOLS = {
    STRONG: """
command line|which command|=what command|=which tool|=what tool|=what's the command|=whats the command|proxy|
environment variable|env var|env vars|config file|dev environment|setup|set up|=set up|install|installed|
credentials file|vpn|ssh|terminal|shell|alias|ide|editor|plugin|extension|docker|=which port|=what port|cli|
tool config|local setup|命令|代理|环境变量|配置文件|开发环境|安装|怎么配|怎么装|用什么工具|哪个工具|终端|编辑器|
插件|端口|环境配置|命令是什么|コマンド|プロキシ|環境変数|設定ファイル|開発環境|インストール|ターミナル|エディタ|
プラグイン|どのツール|befehl|umgebungsvariable|konfigurationsdatei|entwicklungsumgebung|installieren|installiert|
einrichten|welches werkzeug|welches tool
""",
    PLAIN: """
command|commands|config|configuration|configure|environment|tool|tools|tooling|script|path|version of|工具|配置|
环境|脚本|路径|ツール|設定|環境|スクリプト|werkzeug|konfiguration|umgebung|skript
""",
    WEAK: "run|port|url|host|machine|机器|マシン|rechner",
}
