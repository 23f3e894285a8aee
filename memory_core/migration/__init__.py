"""Moving a memory to another layout: a mapping between two tables. Pure, but for `work`, which writes.

    pieces     a page taken apart: its records as they stand, its struck lines, everything else
    homes      where a record of one table belongs in another
    placing    records put into a page
    boards     tasks, blockers, topics, facts: from one board to another, or to pending_tasks.json
    indexes    an index with another table's rows
    scope      one scope: every page of the old layout in, every page of the new one out, and what became of what
    work       the files: backup, staging, writing, reading back, removing; interrupted anywhere it goes on

Nothing is thrown away. A record keeps its text, only the depth of its headings changes. What has no page in the new
layout goes to the archive, which search reads. What a person wrote between records stays verbatim, on the page that
takes the place of its own or as a block of the archive, and is named in the report. SOUL.md, USER.md, journals and
whatever else is the same file in both layouts is not touched.
"""
