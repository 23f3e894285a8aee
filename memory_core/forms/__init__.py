"""The forms of pages: text in, values out, and back. Pure; nothing here opens a file.

What every page has:

    blocks         where records begin and end            escape        text of people that must act as nothing
    records        entries of a page: their form, and     units         what is disclosed, searched and cut
                   how they are written and changed       marks         from which messages a line came
    record_reading   how they are read                    withdrawal    what leaves a page with its message
    record_values    what they hold                       patches       from one text back to an earlier one
    source_line      who said it, read                    sections      records under the headings of a page

The pages and files that have a form of their own:

    board          what is being done, in any layout      journal       a day's notes
    attention      apm's: tasks, blockers, snapshot       daily         one line a day
    bulleted       made of bullets: active (a DM's),      archive       what left its page
                   channel (a group's)                    tasks         pending_tasks.json
    listed, task_line, facts, more                        flush_state   flush-state.json
                   the lines of a board                   heartbeat     heartbeat-state.json
                                                          json_text     what people may edit of such files
"""
