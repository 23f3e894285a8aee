"""Slack's error codes in our terms: one table for everything that a sending may meet.

Codes: https://docs.slack.dev/reference/methods/chat.postMessage#errors. A code that the table lacks is FAILED.
"""

from __future__ import annotations

from collections.abc import Mapping

from slack_sdk.errors import SlackApiError

from adapters.messages import Delivery

DELIVERIES: Mapping[str, Delivery] = {
    "channel_not_found": Delivery.GONE,
    "is_archived": Delivery.GONE,
    "not_in_channel": Delivery.GONE,
    "thread_not_found": Delivery.GONE,
    "message_not_found": Delivery.GONE,
    "user_not_found": Delivery.GONE,
    "users_not_found": Delivery.GONE,
    "user_disabled": Delivery.GONE,
    "user_not_in_channel": Delivery.GONE,
    "account_inactive": Delivery.NOT_ALLOWED,
    "access_denied": Delivery.NOT_ALLOWED,
    "as_user_not_supported": Delivery.NOT_ALLOWED,
    "cannot_dm_bot": Delivery.NOT_ALLOWED,
    "ekm_access_denied": Delivery.NOT_ALLOWED,
    "enterprise_is_restricted": Delivery.NOT_ALLOWED,
    "invalid_auth": Delivery.NOT_ALLOWED,
    "messages_tab_disabled": Delivery.NOT_ALLOWED,
    "missing_scope": Delivery.NOT_ALLOWED,
    "no_permission": Delivery.NOT_ALLOWED,
    "not_allowed_token_type": Delivery.NOT_ALLOWED,
    "not_authed": Delivery.NOT_ALLOWED,
    "org_login_required": Delivery.NOT_ALLOWED,
    "restricted_action": Delivery.NOT_ALLOWED,
    "restricted_action_non_threadable_channel": Delivery.NOT_ALLOWED,
    "restricted_action_read_only_channel": Delivery.NOT_ALLOWED,
    "restricted_action_thread_locked": Delivery.NOT_ALLOWED,
    "restricted_action_thread_only_channel": Delivery.NOT_ALLOWED,
    "team_access_not_granted": Delivery.NOT_ALLOWED,
    "team_not_found": Delivery.NOT_ALLOWED,
    "token_expired": Delivery.NOT_ALLOWED,
    "token_revoked": Delivery.NOT_ALLOWED,
}
"""What a refusal means for the conversation."""

NO_THREAD_HERE = frozenset({"cannot_reply_to_message", "restricted_action_non_threadable_channel"})
"""The message takes no answers (a rename, a join): say it once at top level instead."""

PASSING = frozenset(
    {
        "ratelimited",
        "rate_limited",
        "internal_error",
        "fatal_error",
        "service_unavailable",
        "request_timeout",
        "http_503",
    }
)
"""Worth another try after a pause. A 503 without Slack's own words took nothing; a 500, 502 or 504 may have."""


def error_of(refused: SlackApiError) -> str:
    """The code of a refusal, or its HTTP status where it has none."""
    response = refused.response
    data = getattr(response, "data", response)
    code = data.get("error") if isinstance(data, Mapping) else None
    status = getattr(response, "status_code", "")
    return code if isinstance(code, str) and code else f"http_{status}"


def wait_of(refused: SlackApiError) -> float | None:
    """How many seconds Slack tells us to wait; None if it does not."""
    if getattr(refused.response, "status_code", 0) != 429 and error_of(refused) not in {
        "ratelimited",
        "rate_limited",
    }:
        return None
    headers = getattr(refused.response, "headers", None) or {}
    told = next((value for name, value in headers.items() if str(name).lower() == "retry-after"), "1")
    try:
        return max(0.0, float(told))
    except (TypeError, ValueError):
        return 1.0
