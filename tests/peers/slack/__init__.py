"""A local Slack over real sockets: Web API, Socket Mode, signed HTTP, response URLs, file uploads.

It takes what Slack takes, refuses what Slack refuses (`rules`), records every call, and talks to the bot:

    async with SlackPeer() as peer:                                   # mode="http": also set peer.events_url
        ana = peer.user("ana")
        build = peer.channel("build", members=[ana])                  # the bot is in it unless bot=False
        adapter = SlackAdapter(peer.bot_token, peer.app_token, peer.signing_secret, api_url=peer.api_url)
        …                                                             # run it here, or `remem run` as its own process
        ts = await peer.mention(build, ana, "what did we decide?")    # app_mention and message, acknowledged
        (post,) = await peer.sent(channel=build)                      # waits, with a deadline, without sleeping
        assert post.thread_ts == ts and not post.pings and not post.cut

As its own process `remem run` needs SLACK_BOT_TOKEN, SLACK_APP_TOKEN, SLACK_SIGNING_SECRET (`peer.environment`) and
finds the peer by REMEM_SLACK_API_URL; in HTTP mode set `peer.events_url = f"http://127.0.0.1:{port}/slack/events"`.

An event that is not acknowledged within `peer.acknowledge_s` comes again at once with retry numbers 1 to 3. Each
delivery is in `peer.deliveries`, each Web API call in `peer.calls(method)`, each post in `peer.posts`. Faults:
`peer.refuse(method, error, …)` for the next calls, `peer.hold(method)` keeps a method from answering until released.

world     people, channels, messages, what was posted
rules     what Slack refuses
web_api   the Web API's methods
delivery  events, commands and buttons on their way to the bot, over both transports
peer      SlackPeer: the driver
"""

from tests.peers.slack.delivery import Attempt, Delivered
from tests.peers.slack.peer import SlackPeer
from tests.peers.slack.world import Call, Channel, Edit, Post, SlackRefuses, User

__all__ = ["Attempt", "Call", "Channel", "Delivered", "Edit", "Post", "SlackPeer", "SlackRefuses", "User"]
