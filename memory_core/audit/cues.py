"""The words by which a statement of MEMORY.md gives itself away, in English, Chinese and German. Data alone.

`HEADINGS` are names of sections; the forms inside a statement have weights of their own (weights.py); how all is
weighed stands in lean.py. Words that also name lasting facts (a stack, a server, a date of birth) are no cues.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum


class Theme(StrEnum):
    """What a statement is about: the forbidden ones first, then the allowed ones that sections are named after."""

    PROGRESS = "progress"
    EVENT = "event"
    DECISION = "decision"
    TOOLS = "tools"
    GROUP = "group"
    TEMPORARY = "temporary"
    RESULT = "result"
    DETAIL = "detail"
    PROJECTS = "projects"
    STABLE = "stable"


def words(latin: str, paired: str = "") -> re.Pattern[str]:
    """A pattern of words: Latin ones between word ends, Chinese ones anywhere."""
    words = rf"(?<![^\W_])(?:{latin})(?![^\W_])"
    return re.compile(f"{words}|{paired}" if paired else words, re.IGNORECASE)


HEADINGS: Mapping[Theme, re.Pattern[str]] = {
    Theme.PROGRESS: words(
        r"(?:current |project )?status|state of (?:play|things|the work)|progress|to-?dos?|next steps?|next up|"
        r"sprints?(?: board)?|roadmap|backlog|milestones?|open (?:tasks|items|points|threads)|"
        r"(?:active|current|ongoing) (?:work|tasks|projects|focus)|in progress|work in progress|wip|what i am doing|"
        r"in the works|where we (?:left off|are|stand)|"
        r"(?:active|current|ongoing|open|pending|upcoming|remaining|blocked) \w+|blocked|blockers|done|"
        r"completed|finished|recently completed|waiting(?: for| on)?|this week|parked|deferred|paused|on deck|"
        r"on hold|live(?: (?:on|in) \w+)?|"
        r"awaiting \w+|"
        r"deprioriti[sz]ed|shelved|back ?burner|on the back ?burner|ready to start|up next|"
        r"sent(?:, awaiting \w+)?|planned(?:, not \w+)?|not (?:yet )?(?:built|started|done)|"
        r"(?:current|present) (?:state|phase|situation)|known issues|pipeline(?: snapshot)?|snapshot|"
        r"where (?:it|things) stands?|"
        r"(?:aktueller )?stand(?: der \w+)?|laufendes|offenes|offene punkte|aufgaben|nächste schritte|"
        r"fortschritt|baustellen|in arbeit|"
        r"was (?:gerade|noch) (?:läuft|ansteht|offen ist)|zu tun|zwischenstand",
        r"进展|进度|跟进|已完成|未完成|进行中|待修复|待解决|现状|状态|待办|当前任务|正在进行|下一步|近况|"
        r"里程碑|做到哪|手头|"
        r"進捗|進行中|作業中|今やって|やること|残作業|現在の状況|対応中|未完了|完了済み|次のステップ|タスク",
    ),
    Theme.DECISION: words(
        r"(?:key |past |important )?decisions?|what we (?:decided|settled on|learned)|(?:rules )?we settled on|"
        r"(?:(?:hard|key|my|our|the) )?lessons?(?: learn(?:ed|t))?(?: the hard way)?|learnings?|insights|gotchas|"
        r"pitfalls|"
        r"agreements|conclusions|learned(?: the hard way)?|takeaways?|(?:hard[- ]won )?wisdom|"
        r"(?:common |past |my )?mistakes(?: (?:to avoid|not to repeat|i made))?|things that bit (?:me|us)|"
        r"(?:learned )?patterns|decision (?:locked|log|record)|choices(?: made)?|dos and don'?ts|"
        r"watch out(?: for)?|trouble-?shooting(?: notes| tips| guide)?|"
        r"what (?:works|worked(?: well)?|did(?:n'?t| not) work|does(?:n'?t| not) work|"
        r"needs improvement|to improve|to avoid|went (?:well|wrong))|"
        r"(?:(?:known|common|past) )?(?:issues?|problems?|errors?|bugs?) (?:&|and) (?:their )?"
        r"(?:resolutions?|fix(?:es)?|solutions?)|"
        r"was (?:klappt|funktioniert)(?: nicht)?|fehlerbehebung|problemlösungen|"
        r"entscheidungen|beschlüsse|lehren|erkenntnisse|erfahrungen|gelernt(?:es)?|stolpersteine|"
        r"festgelegt(?:es)?|beschlossen(?:es)?|merke|fallstricke|"
        r"was (?:ich|wir) (?:gelernt|beschlossen|entschieden) haben?|abgemacht(?:es)?",
        r"决定|决策|教训|经验|坑|排错|排障|故障排除|问题排查|心得|结论|约定|学到|定下|"
        r"教訓|学んだ|学び|決めたこと|決定|決まったこと|反省|気づき|注意点|ハマり|トラブルシューティング",
    ),
    Theme.EVENT: words(
        r"(?:event |activity |change ?|session |conversation |interaction )?logs?|history|timeline|"
        r"chronicle|events?|incidents?|outages?|diary|journal|"
        r"(?:meeting )?minutes|meetings?|meeting notes|what happened|"
        r"recent(?: activity| events| changes| news| sessions| conversations| interactions)?|sessions|"
        r"promoted from \S+ memory|(?:interaction|session|conversation) history|observing notes|key dates|"
        r"milestone dates|"
        r"chronik|ereignisse|vorfälle|verlauf|protokolle?|was (?:war|geschah)|"
        r"besprechungen",
        r"大事记|昨天|今天|上周发生|事件|日志|历史|经过|时间线|会议|事故|近期动态|最近发生|关键日期|重要日期|"
        r"できごと|出来事|履歴|経緯|日誌|議事録|会議|最近あった|ログ",
    ),
    Theme.TOOLS: words(
        r"(?:installed |available |cli |command[- ]line )?(?:tools?|packages?|software|programs?|binaries|"
        r"utilities)"
        r"(?: on \w+ \w+)?|toolbox|cli|command[- ]line|installed(?: software)?|commands|dependencies|"
        r"werkzeuge?|programme|installierte \w+|befehle|pakete|was (?:drauf|installiert) ist|"
        r"commands i have|(?:installed |clinical )?skills?(?: installed| \(\d+\))?|installiert(?:es)?",
        r"工具|软件|已安装|命令|依赖包|ツール|インストール済み|コマンド",
    ),
    Theme.GROUP: words(
        r"groups?(?: chats?)?|(?:slack |discord |team |group )?(?:channels?|rooms?|chats?)|servers and channels|"
        r"(?:rooms|chats|groups|channels) (?:that )?i (?:sit|am) in|gruppen(?:chats)?|kanäle|räume|chaträume",
        r"群聊?|群组|频道|聊天室|グループ|チャンネル|参加中のルーム",
    ),
    Theme.TEMPORARY: words(
        r"work-?arounds?|temporary(?: \w+)?|heads?[- ]up|quick fix(?:es)?|hotfix(?:es)?|for now|stopgaps?|"
        r"caveats this week|(?:quick|temporary) (?:fix|measure|state)(?:es|s)?(?: in place)?|"
        r"übergangslösungen?|vorübergehend\w*|vorläufiges|notlösungen?|notbehelfe?|provisorien|"
        r"provisorisch\w*|bis auf weiteres",
        r"临时|暂时|权宜|暫定|一時的|応急|とりあえず",
    ),
    Theme.RESULT: words(
        r"(?:test |key )?results?|(?:system |usage )?stat(?:s|us numbers)|what (?:i|we) (?:measured|found|saw)|"
        r"financial model(?: \S+)?|findings?|measurements?|benchmarks?|performance|scores?|metrics|numbers|"
        r"figures|statistics|"
        r"experiments?|kpis?|"
        r"ergebnisse|kennwerte|messungen|messwerte|kennzahlen|zahlen|befunde",
        r"结果|指标|月数据|周数据|季度数据|实验|测量|数据统计|性能数据|成绩|回测|"
        r"結果|実験|測定|計測|指標|成績|ベンチマーク",
    ),
    Theme.DETAIL: words(
        r"projects? ?[:：–-] ?\S.*|project \S+|projekt ?[:：–-]? ?\S+|architecture|tech(?:nical)? (?:stack|"
        r"details)|deploy(?:ing|ment)?"
        r"(?: \S+)?|set-?up of \S+|"
        r"(?!(?:system|machine|environment|agent|model) \S+\Z)(?:\S+ ){1,5}"
        r"(?:installation|set-?up|integration|configuration|deployment|"
        r"plugin|web ?page|website|"
        r"web ?site|dashboard|app|service|pipeline|bot)|repos(?:itories)?|systems? built|implementation(?: "
        r"notes)?|code ?base|api|endpoints|"
        r"schema|key (?:files|components)|data sources|build|architektur|technik|aufbau|umsetzung",
        r"项目 ?\w{0,6}[:：].+|架构|技术细节|技术栈|部署|实现|接口|代码结构|关键文件|"
        r"プロジェクト ?[:：].+|構成|設計|実装|技術スタック|アーキテクチャ|開発環境",
    ),
    Theme.PROJECTS: words(
        r"(?:my |our |all )?projects?(?: index| table| list)?(?: \(.*\))?|projekte|projektverzeichnis",
        r"项目索引|项目列表|项目|プロジェクト(?:一覧)?",
    ),
    Theme.STABLE: words(
        r"identity|who (?:i|we) (?:am|are)|who is who|about (?:me|you|us|the owner)|me|persona|style|"
        r"principles?|rules|owner|(?:\w+ )?(?:constants|facts|constraints)|"
        r"(?:\w+(?:'s)? )?preferences|(?:tech )?gear|equipment|hardware|interests|workspace|routines|"
        r"(?:daily|weekly|morning|evening) routines?|(?:system|machine|environment) (?:config(?:uration)?|set-?up)|"
        r"(?:key |running |local )?services(?: (?:&|and) ports)?|security(?: notes| rules)?|"
        r"(?:about )?this file(?: is(?: not)?(?: for)?)?|what (?:goes|belongs) (?:in )?here|meta[- ]?notes|"
        r"user|human|environment|constants|infrastructure|hosts?|machines?|pointers?|"
        r"where (?:things|the rest|everything) (?:is|are|lives?)|elsewhere|see also|more|rest|files|index|links|"
        r"wer ich bin|ich|umgebung|rechner|verweise|siehe auch|wo der rest steht|regeln",
        r"身份|关于我|主人|用户|偏好|环境|服务器|主机|入口|指针|指向|其他|风格|原则|规则|规矩|去处|固定事实|约束|数据路径|"
        r"自己紹介|自分について|ユーザー|好み|約束|ルール|置き場所|参照",
    ),
}
"""Names of sections. A heading is compared whole, numbering and emphasis apart."""

MONTH_NAME = (
    r"(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|"
    r"aug(?:ust)?|"
    r"sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)"
)
DAY = re.compile(
    rf"\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[./]\d{{1,2}}[./](?:\d{{4}}|\d{{2}})?(?!\d)|"
    rf"(?:\d{{4}} ?年 ?)?\d{{1,2}} ?月 ?\d{{1,2}} ?[日号]|"
    rf"\b\d{{1,2}}(?:st|nd|rd|th|\.)? (?:of )?{MONTH_NAME}\b(?: \d{{4}})?|\b{MONTH_NAME} \d{{1,2}}(?:st|nd|rd|"
    rf"th)?\b(?:,? \d{{4}})?",
    re.IGNORECASE,
)
"""A day, however it is written."""
MONTH = re.compile(
    rf"\b(?:in|im|since|seit) {MONTH_NAME}(?: \d{{4}})?\b|\d{{4}} ?年 ?\d{{1,2}} ?月|"
    r"\bon (?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\bam (?:mon|diens|donners|frei|sams|sonn)tag\b|"
    r"\bam mittwoch\b",
    re.IGNORECASE,
)
AGO = words(
    r"yesterday|last (?:week(?:end)?|month|night|year|summer|winter|spring|autumn|mon\w*day|tues\w*|"
    r"wednes\w*|thurs\w*|"
    r"fri\w*|"
    r"satur\w*|sun\w*)|(?:two|three|\d+) (?:days|weeks|months) ago|the other day|this morning|"
    r"gestern|vorgestern|letzten? (?:woche|monat|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)|"
    r"neulich|"
    r"vor (?:zwei|drei|\d+) (?:tagen|wochen)",
    r"昨天|前天|上周|上个?月|上星期|前几天|今早|[上这]周[一二三四五六日天]|昨日|先週|先月|一昨日|先日",
)
HAPPENED = words(
    r"was|were|had|went|got|came|met|lost|broke|bought|failed|crashed|moved|fixed|installed|released|deployed|"
    r"launched|"
    r"restored|repaired|replaced|hacked|happened|occurred|started|stopped|sent|signed|expired|migrated|shipped|"
    r"upgraded|"
    r"rolled back|restarted|"
    r"fiel|war|waren|wurden?|ging|kam|haben wir|hatten|ausgefallen|abgestürzt|passiert|getroffen|umgezogen|"
    r"gekauft",
    r"した|された|でした|ました|止まって|宕机|恢复|发布了?|上线|参加|失败|发生|故障|崩溃|修复|重启|迁移|"
    r"开会|雪崩|中断|报警",
)
BIRTH = words(
    r"since|born|created|founded|established|in service|updated|reviewed|saved|noted|"
    r"geboren|seit|erstellt|angelegt|stand|version|v\d",
    r"创建|出生|生于|自|开始|起|更新于|服务|生まれ|から|最終更新|最後更新",
)
"""Words that make a date a lasting fact."""

_COMMANDS_TEXT = """
ack ag ansible apt aria2c avro-tools awk aws-cli awscli bash bat bazel bcftools bedtools blast blastn bowtie2
brew btop bwa cargo certbot clang cmake conda convert cron curl cut delta deno dig direnv dnf docker docker-
compose emacs entr exa exiftool eza fastp fastqc fd ffmpeg ffprobe fish flake8 fzf gatk gcc gcloud gdb gh
ghostscript git git-lfs glow gnuplot go graphviz grep gron gzip handbrake helm hexdump hmmer htop http httpie
hyperfine imagemagick inkscape iotop iperf3 iqtree iqtree2 java javac jq just k9s kafkacat kcat kubectl
kustomize lazygit less loki-cli lsof mafft make maven mc mdbook minimap2 mix mkvtoolnix mosh mpv mtr mypy ncdu
neovim netcat nginx ninja nmap node npm npx nvim openssl pandoc parallel pdftk pip pipx plink pnpm podman
poetry poppler psql pylint pytest python3 qemu raxml rclone redis-cli restic rg ripgrep rsync ruff rustc
samtools screen sed shellcheck snakemake sox sqlite3 ssh star stow strace svn systemctl tar taskwarrior
tcpdump terraform tesseract tig tldr tmux tree trimmomatic tsc unzip uv valgrind vcftools vim wget whisper
wireshark xsv xz yarn youtube-dl yq yt-dlp zip zoxide zsh zstd
"""
COMMANDS = frozenset(_COMMANDS_TEXT.split())
"""Names that `command -v` answers for; three of them in a row are a list of tools."""
