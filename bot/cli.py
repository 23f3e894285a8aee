"""The command line. Every command imports what it needs when it runs, so that `remem --help` is quick."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

app = typer.Typer(
    help="remem: a chat bot for Discord and Slack that remembers, in plain Markdown, each room for itself.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

evaluation = typer.Typer(help="Measure how well remem does its work, on labelled examples.", no_args_is_help=True)
app.add_typer(evaluation, name="eval")

Workspace = Annotated[
    Path | None,
    typer.Option("--workspace", "-w", help="The folder that holds all memory (else REMEM_WORKSPACE, ~/remem)."),
]


def main() -> None:
    """Run remem; a fault that a person can mend ends with one sentence and exit code 1, not with a traceback."""
    from memory_core.errors import LedgerDamaged, RememError

    try:
        app(prog_name="remem")
    except LedgerDamaged as damaged:
        _end(f"{damaged} `remem init --new-ledger` begins anew.")
    except RememError as refused:
        _end(str(refused))
    except KeyboardInterrupt:
        _end("Stopped.")


def _end(sentence: str) -> NoReturn:
    sys.stderr.write(f"remem: {sentence}\n")
    raise SystemExit(1)


@app.command()
def chat(workspace: Workspace = None) -> None:
    """Talk to remem in this terminal: no token, no key, no server."""
    from bot.run import chat as run_chat

    run_chat(workspace)


@app.command()
def run(workspace: Workspace = None) -> None:
    """Run on every platform that has tokens in the environment or in .env."""
    from bot.run import run as run_platforms

    run_platforms(workspace)


@app.command()
def init(
    workspace: Workspace = None,
    new_ledger: Annotated[
        bool, typer.Option("--new-ledger", help="Begin a new ledger where a damaged one was set aside.")
    ] = False,
) -> None:
    """Lay down what is missing in the workspace; nothing that is there is changed."""
    from bot.run import init as run_init

    run_init(workspace, new_ledger=new_ledger)


@app.command()
def replay(
    export: Annotated[Path, typer.Argument(help="A Slack export (ZIP).")],
    workspace: Workspace = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
    sleep: Annotated[
        bool, typer.Option("--sleep/--no-sleep", help="Let memory sleep on the messages' clock, as it would have.")
    ] = True,
) -> None:
    """Replay a Slack export into an empty workspace, on the messages' own clock; can be stopped and continued."""
    from bot.replay import replay as run_replay

    run_replay(export, workspace, quiet=quiet, sleep=sleep)


@app.command("import")
def import_(
    history: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A Slack export (ZIP), or what DiscordChatExporter wrote: a JSON file, or a folder."
        ),
    ],
    room: Annotated[
        list[str] | None,
        typer.Option(
            "--room", "-r", help="A room of it, by name or id; NAME=GROUP names the group here. None: list the rooms."
        ),
    ] = None,
    workspace: Workspace = None,
    bot: Annotated[
        str, typer.Option("--bot", help="This bot's account in the file, by name or id. None: a bot called remem.")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count only; write nothing.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Take rooms of a Slack or Discord history into the memory that lives here; can be stopped and continued."""
    from bot.import_command import import_history

    import_history(history, workspace, room or [], bot=bot, dry_run=dry_run, quiet=quiet)


@app.command()
def sleep(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[WORKSPACE]", help="The folder that holds all memory.")
    ] = None,
    workspace: Workspace = None,
    scope: Annotated[
        str, typer.Option("--scope", "-s", help="Only `dm`, a group's name, a room key or a person key.")
    ] = "",
    stage: Annotated[
        str, typer.Option("--stage", help="deep (journals into pages) or rem (merge, conflicts, archive, budgets).")
    ] = "deep",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done; write nothing.")] = False,
) -> None:
    """Let memory sleep now, due or not; not while the bot runs. Exit code 1: a scope could not, 2: none could."""
    from bot.sleep_command import sleep as run_sleep

    raise SystemExit(run_sleep(folder or workspace, scope=scope, stage=stage, dry_run=dry_run))


@app.command()
def status(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[WORKSPACE]", help="The folder that holds all memory.")
    ] = None,
    workspace: Workspace = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Tell of each scope and conversation the last flush, what waits, the last error, the next sleep. Reads only."""
    from bot.status_command import status as run_status

    raise SystemExit(run_status(folder or workspace, as_json=as_json))


@app.command()
def usage(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[WORKSPACE]", help="The folder that holds all memory.")
    ] = None,
    workspace: Workspace = None,
    days: Annotated[int, typer.Option("--days", min=1, max=3660, help="How many days, today included.")] = 7,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Tell what models cost, by memory and day, answers and saving apart: tokens, runs, dollars. Reads only."""
    from bot.usage_command import usage as run_usage

    raise SystemExit(run_usage(folder or workspace, days=days, as_json=as_json))


@app.command()
def show_context(
    message: Annotated[str, typer.Argument(help="What somebody would say.")],
    room: Annotated[str, typer.Option("--room", "-r", help="A group's name, a room key, or `dm`.")] = "dm",
    workspace: Workspace = None,
) -> None:
    """Show what a message would load from memory, as a tree: step, page, why, tokens, left out."""
    from bot.show_context import show

    show(message, room, workspace)


@app.command()
def doctor(workspace: Workspace = None) -> None:
    """Check settings, disk, tokens, intents, scopes and permissions; each finding with the next step."""
    from bot.doctor import doctor as run_doctor

    raise SystemExit(run_doctor(workspace))


@app.command()
def audit(
    folder: Annotated[Path | None, typer.Argument(metavar="[WORKSPACE]", help="The folder to look at.")] = None,
    workspace: Workspace = None,
    layout: Annotated[str, typer.Option("--layout", help="Its memory system (else REMEM_LAYOUT).")] = "",
    scope: Annotated[
        str, typer.Option("--scope", "-s", help="Only `dm`, a group's name, a room key or a person key.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="Do what is safe, with a copy of each changed file; needs the workspace.")
    ] = False,
) -> None:
    """Check the memory: MEMORY.md, budgets, indexes, records, secrets. Exit code 1: findings, 2: it could not run."""
    from bot.audit import audit as run_audit

    raise SystemExit(run_audit(folder or workspace, layout=layout, scope=scope, as_json=as_json, fix=fix))


@evaluation.command()
def extraction(
    data: Annotated[
        Path | None, typer.Option("--data", help="Labelled conversations, one JSON a line (else those of remem).")
    ] = None,
    report: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file, too.")] = None,
    workspace: Workspace = None,
) -> None:
    """Precision and recall of what is kept, per kind and language: by the rules, and by the model if one is set."""
    from bot.evaluate import evaluate

    evaluate(data, report, workspace)


@app.command()
def migrate(
    folder: Annotated[Path | None, typer.Argument(metavar="[WORKSPACE]", help="The folder to move.")] = None,
    workspace: Workspace = None,
    to: Annotated[str, typer.Option("--to", help="The layout to move to: apm, adaptive or dreaming.")] = "",
    origin: Annotated[
        str, typer.Option("--from", help="The layout that it is in (else as noted, or REMEM_LAYOUT).")
    ] = "",
    yes: Annotated[
        bool, typer.Option("--yes/--dry-run", help="Do it; without, only what would happen is printed.")
    ] = False,
) -> None:
    """Move the memory to another layout: a dry run unless --yes, which copies every page first."""
    from bot.migrate import migrate as run_migrate

    raise SystemExit(run_migrate(folder or workspace, to=to, origin=origin, yes=yes))


@app.command()
def discord_invite(
    application: Annotated[str, typer.Argument(help="The application id (Developer Portal, General Information).")],
) -> None:
    """Print the address that invites the bot to a Discord server, with the permissions that it needs."""
    from memory_core.errors import BadInput

    if not (application.isascii() and application.isdigit()):
        raise BadInput(
            f"{application[:40]!r} is no application id; give the digits that stand under General Information."
        )
    from adapters.discord.invite import invite_url

    typer.echo(invite_url(application))


@app.command()
def slack_manifest(
    url: Annotated[
        str, typer.Option("--url", help="The public address for http mode; without it: socket mode.")
    ] = "",
) -> None:
    """Print the manifest to create the Slack app from."""
    from json import dumps

    from adapters.slack.manifest import manifest

    typer.echo(dumps(manifest("http" if url else "socket", url), indent=2))
