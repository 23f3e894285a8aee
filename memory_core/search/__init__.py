"""Search in one scope: plain text, best first, over its pages, journals and archive and what was said.

Every count and weight comes from the scope's own units: another scope's words cannot even change an order.

A scope is searched as sources: each page is one, and each piece of a talk. A source is cut into units (forms/units).
Read in this order:

    sources         what is searched, cut into sources; each has a mark, which changes when it does
    parts           what search knows of a unit: its terms, and where it stands (ranking's Spot)
    question        what is asked, as ranking takes it
    scope_search    a search: the index is caught up with the marks that changed, then asked
    searches        the indexes of all scopes: which are open
    hits            what a search gives, and which hits are worth telling

    index_file      the index of a scope: one SQLite file, written and asked
    index_postings  where the terms stand, in segments
    index_rows      units as rows                          index_reading   what every question needs, kept in memory
    index_meta      what the file says of itself           index_place     where the file is

    embedding       the port of an embedder, which there may not be
    meaning         who gets vectors when                  vectors         those of one index
    fusion          two orders, by words and by meaning, made into one
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
