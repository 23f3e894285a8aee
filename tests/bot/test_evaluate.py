"""`remem eval extraction`: the figures as a person and a program get them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.evaluate import Bill, by_model, measured
from bot.evaluation.labelled import LABELLED, load
from memory_core.errors import BadInput
from memory_core.extract import RulesExtractor
from tests.bot.command_line import CommandLine
from tests.bot.model_reader import Reader, answer, draft
from tests.peers.openai_server import OpenAIServer, Status, call
from tests.scenarios.terminal import settings

LINES = LABELLED.read_text("utf-8").splitlines()
EVERY = load()
FEW = [LINES[0], *(line for line in LINES if '"ja-' in line or '"de-' in line)][:41]


@pytest.fixture
def remem(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line in an empty folder."""
    return CommandLine(tmp_path, capsys, monkeypatch)


def test_a_line_separator_within_a_text_ends_no_line(tmp_path: Path) -> None:
    told = json.loads(FEW[1])
    told["messages"][0]["text"] += "\u2028and so on"
    (tmp_path / "one.jsonl").write_text(f"{FEW[0]}\n{json.dumps(told, ensure_ascii=False)}\n", "utf-8")
    assert len(load(tmp_path / "one.jsonl")) == 1


def test_the_rules_are_measured_per_kind_and_language(remem: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "few.jsonl").write_text("\n".join(FEW), "utf-8")
    ran = remem("eval", "extraction", "--data", "few.jsonl", "--json", "figures.json")
    assert ran.code == 0
    assert "Extraction by rules" in ran.out
    assert "lang:ja" in ran.out
    assert "kind:decision" in ran.out
    assert "No model is set" in ran.out
    figures = json.loads((tmp_path / "figures.json").read_text("utf-8"))
    row = figures["rules"]["kept_out"]["all"]
    assert row["precision"] == row["right"] / row["told"]
    assert row["recall"] == row["found"] / row["facts"]


WRONG_KIND = json.dumps({**json.loads(FEW[1]), "facts": [{"kinds": ["gossip"]}]})


@pytest.mark.parametrize("line", ["{", '{"id": "x"}', WRONG_KIND])
def test_a_line_that_is_no_conversation_is_named(remem: CommandLine, tmp_path: Path, line: str) -> None:
    (tmp_path / "bad.jsonl").write_text(f"{FEW[0]}\n{line}\n", "utf-8")
    assert "Line 2 of bad.jsonl" in remem("eval", "extraction", "--data", "bad.jsonl").refusal
    assert "cannot be read" in remem("eval", "extraction", "--data", "none.jsonl").refusal


def test_a_label_that_cites_no_message_is_refused(tmp_path: Path) -> None:
    wrong = json.loads(next(line for line in FEW[1:] if json.loads(line)["facts"]))
    wrong["facts"][0]["sources"] = [99]
    (tmp_path / "bad.jsonl").write_text(f"{FEW[0]}\n{json.dumps(wrong)}\n", "utf-8")
    with pytest.raises(BadInput, match="cites message 99"):
        load(tmp_path / "bad.jsonl")
    (tmp_path / "README.md").write_text("# remem\n\nremem is a chat bot\n", "utf-8")
    for file, why in {"README.md": r"\(no JSON\)", "nowhere": r"\(No such file", ".": r"\(Is a directory\)"}.items():
        with pytest.raises(BadInput, match=f"labelled conversations? {why}.*; give a file with one conversation"):
            load(tmp_path / file)


@pytest.mark.asyncio
async def test_a_model_is_measured_as_a_save_would_use_it() -> None:
    conversations = [one for one in EVERY if one.id in {"de-stack", "de-scherz", "de-vorschlag-offen"}]
    right = draft("stack", "Tech-Stack für das neue Portal: SvelteKit und Rust", "m1")
    joke = draft("decision", "wir haben beschlossen, ab morgen alles in Excel zu programmieren", "m1")
    wish = draft("decision", "ich schlage vor, die Logs nur noch 30 Tage aufzuheben", "m1")

    def read(prompt: str) -> dict[str, object]:
        return answer(right if "SvelteKit" in prompt else joke if "Excel" in prompt else wish)

    reader, spent = Reader(read), Bill()
    result = await measured("model", reader.extractor(), conversations, beside=2)
    assert len(reader.prompts) == 3
    told = result.kept_out.precise("all")[1] + result.tuned.precise("all")[1]
    assert told == 1  # the bars leave the proposal and the joke open, although the model called them settled
    assert result.kept_out.open_found + result.tuned.open_found == 1
    for run in reader.money.runs:
        spent.runs.append(run)
    assert spent.line().startswith("3 requests")


@pytest.mark.asyncio
async def test_the_model_of_the_settings_is_measured(tmp_path: Path) -> None:
    keep = call("keep", **answer(draft("stack", "Tech-Stack für das neue Portal: SvelteKit und Rust", "m1")))
    some = [one for one in EVERY if one.id == "de-stack"]
    async with OpenAIServer(otherwise=keep) as server:
        given = settings(tmp_path, memory_model=f"openai:{server.models[0]}", model_base_url=server.base_url)
        result = await by_model(given, some)
        assert (result.kept_out.right["all"] + result.tuned.right["all"], result.failed) == (1, 0)
        assert result.notes[0].startswith("1 request, 57 tokens")
        server.otherwise = Status(500, None, "server_error")
        assert (await by_model(given, some)).failed == 1
        server.otherwise = Status(401, "invalid_api_key")
        with pytest.raises(BadInput):
            await by_model(given, some)
        assert server.refused == []


@pytest.mark.asyncio
async def test_what_a_save_writes_by_rules_is_what_the_rules_find() -> None:
    result = await measured("rules", RulesExtractor(), EVERY)
    for half in (result.kept_out, result.tuned):
        right, told = half.precise("all")
        found, facts = half.recalled("all")
        assert right / told >= 0.9
        assert found / facts >= 0.8
