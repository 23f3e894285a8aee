"""Secrets never reach a page, a log or a reply: `mask` finds them by their words, tokens and markup."""
