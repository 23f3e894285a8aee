"""Slash commands and buttons against the local Discord: in time, too late, private, public."""

from __future__ import annotations

import asyncio

import pytest

from adapters.base import ACKNOWLEDGE_S, Taken
from adapters.discord.asked import NOT_KEPT, TOO_LATE
from adapters.messages import Button, Delivery, Happening, Incoming, Outgoing
from memory_core.commands import is_public
from memory_core.errors import LedgerFailed
from memory_core.ids import RoomKind
from tests.adapters.discord_support import Heard, running
from tests.peers.discord import DiscordPeer
from tests.peers.discord.interactions import TOKEN_S
from tests.peers.discord.rules import no_permission
from tests.peers.discord.world import MANAGE_GUILD, PRIVATE_THREAD, PUBLIC_THREAD, SEND, VIEW

pytestmark = pytest.mark.asyncio


def _is_command(incoming: Incoming) -> bool:
    return incoming.happening is Happening.COMMAND


class Minutes:
    """A clock for the peer that a test moves."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


async def test_a_command_is_heard_with_its_words_and_answered_to_the_asker() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        lead = peer.add_user("lead", guild, display="Lead", roles=(peer.add_role(guild, "lead", MANAGE_GUILD),))
        build = guild.channel("build")
        async with running(peer, heard) as adapter:
            asked = await peer.command(build, lead, "purpose", "we build the cache")
            command = await heard.wait(_is_command)
            assert command.event == f"discord:interaction:{asked.id}"
            assert (command.words, command.author.name, command.author.admin) == (
                "purpose we build the cache",
                "Lead",
                True,
            )
            assert (command.room.kind, command.room.key) == (RoomKind.CHANNEL, f"discord:{build.id}")
            outgoing = Outgoing(command.conversation, "noted", private=True, answer_to=command.answer_to)
            sent = await adapter.send(outgoing)
            said = await peer.sent(lambda one: one.interaction is asked)
            assert (sent.delivery, sent.messages) == (Delivery.SENT, ())
            assert (said.text, said.ephemeral) == ("noted", True)


async def test_case_44_a_command_names_people_that_were_seen() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild, display="Ana")
        async with running(peer, heard):
            await peer.message(guild.channels[0], ana, "hi")
            await heard.said("hi")
            await peer.command(guild.channels[0], ana, "note", f"{ana.mention} owns billing, <@5> pays")
            assert (await heard.wait(_is_command)).words == "note @Ana owns billing, @someone pays"


async def test_the_bare_command_saves_in_public() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        async with running(peer, heard) as adapter:
            asked = await peer.command(guild.channel("build"), ana)
            command = await heard.wait(_is_command)
            assert (command.words, command.author.admin) == ("", False)
            sent = await adapter.send(Outgoing(command.conversation, "saved @everyone", answer_to=command.answer_to))
            said = await peer.sent(lambda one: one.interaction is asked)
            assert (said.ephemeral, said.pings) == (False, frozenset())
            assert sent.messages == (f"discord:{guild.channel('build').id}:{said.message.id}",)


async def test_commands_know_dms_and_threads() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        build = guild.channel("build")
        async with running(peer, heard):
            thread = await peer.add_thread(build, "t", PUBLIC_THREAD, ana, announce=False)
            private = await peer.add_thread(build, "p", PRIVATE_THREAD, ana, members=(peer.bot,), announce=False)
            await peer.command(peer.dm(ana), ana, "status")
            direct = await heard.wait(_is_command)
            assert (direct.room.kind, direct.author.admin) == (RoomKind.DIRECT, True)
            await peer.command(thread, ana, "status")
            threaded = await heard.wait(_is_command, 2)
            assert (threaded.room.key, threaded.conversation.thread) == (f"discord:{build.id}", str(thread.id))
            await peer.command(private, ana, "status")
            own = await heard.wait(_is_command, 3)
            assert (own.room.kind, own.room.key) == (RoomKind.PRIVATE_THREAD, f"discord:{private.id}")


async def test_case_1_a_dead_token_still_saves_once_and_the_room_hears_of_it() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        async with running(peer, heard) as adapter:
            await peer.command(guild.channel("build"), ana, dead=True)
            command = await heard.wait(_is_command)
            sent = await adapter.send(Outgoing(command.conversation, "saved", answer_to=command.answer_to))
            said = await peer.sent(lambda one: one.text == "saved")
            assert (said.interaction, said.ephemeral, said.channel) == (None, False, guild.channel("build"))
            assert sent.messages == (f"discord:{guild.channel('build').id}:{said.message.id}",)
            assert len([one for one in heard.incoming if _is_command(one)]) == 1


async def test_case_1_the_three_seconds_are_over_before_our_handler_runs() -> None:
    clock = Minutes()

    async def busy(_: Incoming) -> Taken:
        clock.now_s += 4
        return Taken(durable=True, private=False)

    heard = Heard(busy)
    async with DiscordPeer(clock=clock) as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        async with running(peer, heard) as adapter:
            await peer.command(guild.channel("build"), ana)
            command = await heard.wait(_is_command)
            await adapter.send(Outgoing(command.conversation, "saved", answer_to=command.answer_to))
            said = await peer.sent(lambda one: one.text == "saved")
            assert said.interaction is None
            late = await peer.called(lambda call: call.path.endswith("/callback"))
            assert late.status == 404


async def test_a_private_answer_that_is_too_late_is_not_said_in_the_room() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        async with running(peer, heard) as adapter:
            await peer.command(guild.channel("build"), ana, "show", "people", dead=True)
            command = await heard.wait(_is_command)
            await adapter.send(
                Outgoing(command.conversation, "ana's number", private=True, answer_to=command.answer_to)
            )
            said = await peer.sent(lambda one: True)
            assert said.text == TOO_LATE
            await adapter.send(Outgoing(command.conversation, "again", private=True, answer_to="12345"))
            assert [one.text for one in peer.said] == [TOO_LATE, TOO_LATE]


async def test_a_slow_ledger_does_not_cost_the_acknowledgement() -> None:
    kept = asyncio.Event()

    async def slow(_: Incoming) -> Taken:
        await kept.wait()
        return Taken(durable=True)

    heard = Heard(slow)
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        async with running(peer, heard) as adapter:
            asked = await peer.command(guild.channel("build"), ana)
            acknowledged = await peer.called(lambda call: call.path.endswith("/callback"))
            assert (acknowledged.status, asked.ephemeral) == (200, False)
            assert asked.acknowledged_s is not None
            assert asked.acknowledged_s - asked.born_s < 2 * ACKNOWLEDGE_S
            assert peer.said == []
            kept.set()
            command = await heard.wait(_is_command)
            await adapter.send(Outgoing(command.conversation, "saved", answer_to=command.answer_to))
            await peer.sent(lambda one: one.interaction is asked)


@pytest.mark.parametrize("raises", [LedgerFailed("The disk is full."), ValueError("unforeseen"), None])
async def test_what_is_not_kept_is_said_instead_of_promised(raises: Exception | None) -> None:
    async def full(_: Incoming) -> Taken:
        if raises:
            raise raises
        return Taken(durable=False)

    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        async with running(peer, Heard(full)):
            asked = await peer.command(guild.channel("build"), ana, "note", "x")
            said = await peer.sent(lambda one: one.interaction is asked)
            assert (said.text, said.ephemeral) == (NOT_KEPT, True)


async def test_case_9_the_private_answer_works_where_the_bot_may_not_speak() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("news", "board"))
        ana = peer.add_user("ana", guild)
        guild.channel("news").deny(peer.bot, SEND)
        guild.channel("board").deny(peer.bot, VIEW)
        async with running(peer, heard) as adapter:
            asked = await peer.command(guild.channel("news"), ana, "status")
            command = await heard.wait(_is_command)
            await adapter.send(Outgoing(command.conversation, "fine", private=True, answer_to=command.answer_to))
            await peer.sent(lambda one: one.interaction is asked and one.ephemeral)
            assert command.member
            await peer.command(guild.channel("board"), ana, "status")
            assert not (await heard.wait(_is_command, 2)).member


async def test_a_long_answer_comes_in_pieces_and_goes_on_in_the_room_when_the_token_ends() -> None:
    clock, heard = Minutes(), Heard()
    async with DiscordPeer(clock=clock) as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        async with running(peer, heard) as adapter:
            asked = await peer.command(guild.channel("build"), ana)
            command = await heard.wait(_is_command)
            long = "\n\n".join(f"{number} " + "word " * 200 for number in range(5))
            sent = await adapter.send(Outgoing(command.conversation, long, answer_to=command.answer_to))
            assert len(sent.messages) == len(peer.said) >= 3
            assert {one.interaction for one in peer.said} == {asked}
            clock.now_s += TOKEN_S + 1
            await adapter.send(Outgoing(command.conversation, "late", answer_to=command.answer_to))
            assert (await peer.sent(lambda one: one.text == "late")).interaction is None


async def test_buttons_come_back_with_their_id_and_are_answered() -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        build = guild.channel("build")
        async with running(peer, heard) as adapter:
            await peer.message(build, ana, f"{peer.bot.mention} hi")
            place = (await heard.said("hi")).conversation
            await adapter.send(
                Outgoing(place, "What is this group for?", buttons=(Button("purpose:topic", "Topic"),))
            )
            question = await peer.sent(lambda one: bool(one.buttons))
            assert question.buttons == (("purpose:topic", "Topic"),)
            await peer.click(question, ana, "purpose:topic")
            click = await heard.wait(lambda one: one.happening is Happening.BUTTON)
            assert (click.words, click.author.name) == ("purpose:topic", "ana")
            assert click.message == f"discord:{build.id}:{question.message.id}"
            await adapter.send(Outgoing(place, "Thanks", private=True, answer_to=click.answer_to))
            assert (await peer.sent(lambda one: one.text == "Thanks")).ephemeral


async def test_a_command_that_cannot_be_registered_does_not_stop_the_bot(caplog: pytest.LogCaptureFixture) -> None:
    heard = Heard()
    async with DiscordPeer() as peer:
        guild = peer.add_guild("Acme", ("build",))
        ana = peer.add_user("ana", guild)
        peer.refuse("PUT", "/commands", no_permission())
        async with running(peer, heard):
            await peer.message(guild.channel("build"), ana, "!remem status")
            await heard.said("!remem status")
    assert "could not be registered" in caplog.text


@pytest.mark.parametrize(
    ("words", "public"), [("", True), ("status", False), ("show people", False), ("nonsense", False), ("  ", True)]
)
async def test_only_the_save_is_public(words: str, public: bool) -> None:
    assert is_public(words) is public
