"""The flush engine: what was said goes into the pages, once, in steps that survive a crash and can be taken back.

hearing        messages after each cursor → candidates        engine        one flush, from the cursors to the receipt
bars           candidates → facts, checked by code            plans         a flush as it is persisted; its receipt
sameness       do two texts say the same?                     steps         the undoable steps of a scope
pending        what stays open until the next flush           apply         a plan, page by page, read back
gathering      what a draft reads                             standing      pages as one step read them
draft          facts → operations; the rules of each form:    write_now     what one message says, before its answer
               journal_, record_ and attention_draft          marks         what was written at once, in the ledger
target         what a part of a draft needs of the whole      undo          the newest step taken back
revision       edited messages that were flushed              correct       one record superseded by a person
raw_notes      word for word, while extraction fails          board_budget  which tasks stand on a board
switched       what a switch from X to Y takes back           fact_budget   which facts stand on a board
"""
