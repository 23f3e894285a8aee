"""The forms of pages: text in, values out, and back. Pure; nothing here opens a file.

records        entries of a page, with record_values          journal       a day's notes
attention      tasks, blockers, snapshot                      daily         one line a day
tasks          pending_tasks.json                             flush_state   flush-state.json
blocks         where records begin and end                    units         what is disclosed, searched and cut
escape         text of people that must act as nothing        marks         from which messages a line came
withdrawal     what leaves a page with its message            patches       from one text back to an earlier one
"""
