"""A local Discord over real sockets; `peer.py` tells how to use it, from a test and for `remem run` as a process."""

from tests.peers.discord.local import Call, Edit, Said
from tests.peers.discord.peer import DiscordPeer

__all__ = ["Call", "DiscordPeer", "Edit", "Said"]
