"""Search in one scope: plain text, best first, over its pages, journals and archive and what was said.

Every count and weight comes from the scope's own units: another scope's words cannot even change an order.
"""

from memory_core.search.hits import Found, Hit, found, is_near, rank, strong, telling
from memory_core.search.parts import QUESTION, Placed
from memory_core.search.scope_search import ScopeSearch, gather
from memory_core.search.searches import Searches
from memory_core.search.sources import TALK

__all__ = [
    "QUESTION",
    "TALK",
    "Found",
    "Hit",
    "Placed",
    "ScopeSearch",
    "Searches",
    "found",
    "gather",
    "is_near",
    "rank",
    "strong",
    "telling",
]
