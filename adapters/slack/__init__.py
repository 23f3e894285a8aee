"""Slack: Socket Mode and HTTP, through slack-bolt. The only package that imports slack_bolt and slack_sdk.

moment       when a message was posted, by its `ts`
entities     Slack's text (`<@U1>`, `&amp;`) as people read it
facts        what must be known besides a payload: rooms, people, ourselves
normalise    an event → Incoming, pure
interactions a slash command or button → Incoming, pure
render       Markdown → Slack's mrkdwn in pieces, pure
directory    cached, bounded look-ups of rooms and people
refusals     Slack's error codes → Delivery, one table
posting      the way out: pace, retries, threads, private answers
checks       `remem doctor`, and who is an admin
manifest     `remem slack-manifest`
adapter      the life of the connection
export       a workspace export (ZIP), read as its messages were sent
history      the same as rooms of the past, for `remem import`
"""
