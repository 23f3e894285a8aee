"""The flush engine: what was said goes into the pages, once, in steps that survive a crash and can be taken back.

hearing        messages after each cursor → candidates        engine        one flush, from the cursors to the receipt
bars           candidates → facts, checked by code            plans         a flush as it is persisted; its receipt
sameness       do two texts say the same?                     steps         the undoable steps of a scope
pending        what stays open until the next flush           apply         a plan, page by page, read back
gathering      what a draft reads                             standing      pages as one step read them
draft          facts → operations, with attention_draft       write_now     one fact at once, while its reply waits
revision       edited messages that were flushed              undo          the newest step taken back
raw_notes      word for word, while extraction fails          correct       one record superseded by a person
switched       what a switch from X to Y takes back           board_budget  which tasks stand on a board
                marks          what was written at once, row by row   fact_budget   which facts stand on a board
"""
