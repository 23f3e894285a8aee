"""What the bench of sleep sleeps on: scopes as a team leaves them after a year, written as files, the same each time.

Titles and bodies are put together from pools of words and from names that occur once or a few times, as in real
notes, where the frequent words are few and most words are rare. Two of a hundred records say again what another one
says, one of a hundred turns one round. Uses are few for most and many for some.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random

from memory_core.candidates import Value
from memory_core.forms import heartbeat, journal
from memory_core.forms.heartbeat import Heartbeat
from memory_core.forms.records import Record, Source, render
from memory_core.ids import MessageKey, RoomKey
from memory_core.index import new_index
from memory_core.layouts import APM, Table

NIGHT = datetime(2026, 9, 1, 3, tzinfo=UTC)
TODAY = NIGHT.date()
JOURNALS = 14
DAYS = 400
"""The records are spread over so many days."""


def _listed(text: str, sign: str | None = None) -> list[str]:
    return [" ".join(one.split()) for one in text.split(sign)]


_SYSTEMS = _listed(
    """billing search checkout catalog login ingest exporter mailer scheduler gateway archive ledger
dashboard crawler notifier uploader resizer importer proxy replica warehouse tracker registry
planner renderer parser indexer sampler shipper router vault mirror monitor builder deployer linter
fetcher sender broker"""
)
_CHOICES = _listed(
    """Postgres Redis Kafka RabbitMQ SQLite ClickHouse Terraform Pulumi Buildkite Jenkins Grafana Sentry
Vault Consul nginx Envoy Traefik Helm Argo Ansible Docker Podman Poetry uv ruff mypy pytest FastAPI
Django Flask gRPC GraphQL Protobuf Avro Parquet DuckDB Airflow Dagster dbt Snowflake BigQuery
Cloudflare Fastly Vercel Hetzner"""
)
_MATTERS = _listed(
    """session cache| rate limits| nightly backup| retry policy| schema migration| access log| image build|
feature flags| load test| release notes| error budget| on-call rota| disk quota| token refresh|
audit trail| cold start| search index| bulk import| payment webhook| time zones| invoice layout|
dead letter queue| health check| secret rotation| blue-green switch| query planner| customer export|
data retention| cost report| staging reset""",
    "|",
)
_REASONS = _listed(
    """it held under the load of last month| nobody could read the old setup any more| the vendor ends
support| two outages came from it| it halves the bill| the migration takes one evening| support
asked for it three times| the tests became stable| it needs no extra machine| legal wants it in the
region| new people understand it at once| it was the only one that kept the order| restores were
tried and worked| latency fell by a third""",
    "|",
)
_PEOPLE = _listed("""ana bo chen dara eli femi gita hugo ines jun kofi lena""")
_CHINESE = (
    "我们决定把{matter}迁移到{choice}，因为{name}的负载太高",
    "{name}失败是因为{matter}配置错误，改用{choice}之后解决了",
)
_SHAPES = (
    "{choice} for the {matter} of {system}, because {reason}; see {name}.",
    "The {matter} of {system} runs on {choice} since {name} moved, as {reason}.",
    "{system} failed when {name} filled the {matter}; fixed by giving {choice} {number} MB.",
    "We keep {number} days of the {matter} in {choice} for {system}; {name} needs it and {reason}.",
    "{name} calls {system} through {choice} at most {number} times a minute, else the {matter} stalls.",
    "Ask {name} before touching the {matter} of {system}: {choice} is shared, and {reason}.",
)
_SYLLABLES = _listed("ba co di fu ga he ki lo mu na po ra se ti vu wo xa ye zi dro kla mer pin sto tra vel")

_PAGES = (("experience", 55), ("project", 25), ("people", 8), ("conventions/tools", 7), ("conventions/api", 5))
"""Hundredths of a scope's records, by page."""


def name_of(random: Random) -> str:
    """A name of somebody's project, host or ticket: most occur once."""
    if random.random() < 0.3:
        return f"{random.choice(('OPS', 'WEB', 'DATA'))}-{random.randint(100, 9999)}"
    return "".join(random.choices(_SYLLABLES, k=random.randint(3, 4)))


def statement(random: Random) -> str:
    """One sentence as somebody said it."""
    shape = random.choice(_CHINESE) if random.random() < 0.06 else random.choice(_SHAPES)
    return shape.format(
        choice=random.choice(_CHOICES),
        matter=random.choice(_MATTERS),
        system=random.choice(_SYSTEMS),
        reason=random.choice(_REASONS),
        name=name_of(random),
        number=random.choice((5, 14, 30, 64, 90, 250, 512)),
    )


def source(random: Random, number: int, day: date) -> Source:
    """Who said it, where, in which message."""
    person = random.choice(_PEOPLE)
    key = MessageKey(f"slack:T1:C9:{1_700_000_000 + number}.000100")
    at = f"{day.isoformat()} {random.randint(8, 18):02d}:{random.randint(0, 59):02d}"
    return Source(f"slack:T1:U{_PEOPLE.index(person)}", person, "#build", at, (key,))


def records_of(count: int, seed: int = 1) -> list[Record]:
    """So many records, newest first."""
    random = Random(seed)
    found: list[Record] = []
    for number in range(count):
        day = TODAY - timedelta(days=random.randint(1, DAYS))
        chance = random.random()
        body = statement(random)
        if found and chance < 0.02:
            body = f"{random.choice(found).body.rstrip('.')} now."
        elif found and chance < 0.03:
            body = f"Not {random.choice(found).body}"
        hits = random.choices((0, 1, 2, 3, 5, 12), (55, 20, 10, 6, 5, 4))[0]
        used = min(TODAY, day + timedelta(days=random.randint(0, 120))) if hits else day
        value = random.choices((Value.LOW, Value.MEDIUM, Value.HIGH), (25, 60, 15))[0]
        title = body if len(body) < 50 else f"{body[:60].rpartition(' ')[0]}…"
        tags = tuple(word.lower() for word in body.split()[:2])
        found.append(Record(day, title, body, tags, used, hits, value, (source(random, number, day),)))
    return sorted(found, key=lambda one: one.day or TODAY, reverse=True)


def by_page(records: Sequence[Record]) -> Iterator[tuple[str, list[Record]]]:
    """The records, shared out over the pages of a group."""
    random = Random(7)
    pages = random.choices([page for page, _ in _PAGES], [share for _, share in _PAGES], k=len(records))
    for page, _ in _PAGES:
        yield page, [record for record, own in zip(records, pages, strict=True) if own == page]


def journal_of(day: date, known: Sequence[Record], seed: int, lines: int) -> str:
    """A day's note: half of its lines are records of their own messages already, half stand nowhere else yet."""
    random = Random(seed)
    text = journal.new_journal(day.isoformat(), "+00:00")
    for session in range(2):
        notes = []
        for number in range(lines // 2):
            if known and number % 2:
                said = random.choice(known)
                body, one = said.body, said.sources[0]
            else:
                body, one = statement(random), source(random, 500_000 + seed * 1000 + session * 100 + number, day)
            part = random.choice((journal.Part.DECISIONS, journal.Part.LEARNED))
            notes.append(journal.Note(part.value, body, one.name, "14:02 +00:00", one.person, one.keys))
        text = journal.append(text, f"{10 + session * 4}:30 +00:00", notes)
    return text + f"\n## By hand\n- {statement(random)}\n"


def table() -> Table:
    """The table of a group."""
    return APM.group


def lay_down(workspace: Path, name: str, count: int, *, seed: int = 1, journals: int = JOURNALS) -> None:
    """Write a group of `count` records and its journals of the last days. Blocking."""
    folder = workspace / "memory/groups" / name
    (folder / "journal").mkdir(parents=True)
    (folder / "conventions").mkdir()
    room = RoomKey(f"slack:T1:{name}")
    index = new_index(table(), name=name, rooms=[room], purpose=f"group {name}", created=TODAY, zone="UTC")
    (folder.parent / f"{name}.md").write_text(index, "utf-8")
    records = records_of(count, seed)
    for page, own in by_page(records):
        if own:
            text = f"# {page.title()}\n\n" + "\n".join(map(render, own))
            (folder / f"{page}.md").write_text(text, "utf-8")
    for back in range(journals):
        day = TODAY - timedelta(days=back + 1)
        note = journal_of(day, records[:60], seed * 100 + back, 20 if count > 100 else 6)
        (folder / "journal" / f"{day.isoformat()}.md").write_text(note, "utf-8")


def beat(workspace: Path, name: str, slept: datetime) -> None:
    """Write when the group slept last. Blocking."""
    text = heartbeat.render(Heartbeat(slept, slept, slept))
    (workspace / "memory/groups" / name / "heartbeat-state.json").write_text(text, "utf-8")


def lay_down_small(workspace: Path, name: str, seed: int, slept: datetime, *, empty: bool) -> None:
    """Write a small group as most are, a dozen records and two journals, and when it slept last. Blocking."""
    lay_down(workspace, name, 0 if empty else 12, seed=seed, journals=0 if empty else 2)
    beat(workspace, name, slept)
