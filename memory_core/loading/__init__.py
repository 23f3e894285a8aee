"""Progressive loading: what the agent may see of memory for a message, a page it opens, a search it makes."""

from memory_core.loading.driver import disclose, open_page, search_memory
from memory_core.loading.intent import Mode
from memory_core.loading.standing import standing

__all__ = ["Mode", "disclose", "open_page", "search_memory", "standing"]
