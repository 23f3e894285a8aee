"""A local Discord over real sockets; `peer.py` tells how to use it, from a test and for `remem run` as a process."""

from tests.peers.discord.peer import Call, DiscordPeer, Said

__all__ = ["Call", "DiscordPeer", "Said"]
