"""When a message of Slack's was posted: its `ts`, which is its id within the channel, too."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(ts: str) -> datetime:
    """The time of a Slack `ts` (`<seconds>.<microseconds>`), aware; the epoch where it is none."""
    seconds, _, fraction = ts.partition(".")
    try:
        return _EPOCH + timedelta(seconds=int(seconds), microseconds=int(fraction[:6].ljust(6, "0")))
    except (ValueError, OverflowError):
        return _EPOCH
