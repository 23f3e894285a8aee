"""The model behind the answers and behind the flush. pydantic-ai is imported here and nowhere else, and only when a
model is set: whoever runs without one pays nothing for it.

    providers    settings → models, and what is wrong with a name, a key, a missing package
    failures     the library's errors → ours: what a person is told, and whether it is tried again
    limits       how much one answer may take, how much a day
    spending     what was used, kept in the ledger
    prompt       a question → persona, rules, protocol; then the conversation with its disclosures
    words, marks what a model is always told; what is ours in a prompt, and what is data
    request      prompt → requests that fit into the window, also after calls of tools
    room         does the window hold a turn at all? Said at the start
    tools        what the model may call; all of it through the doors of one scope
    visible      what a person sees of what a model writes; frames: those that gpt-oss writes in
    quoting      which records an answer quotes
    speaker      the agent: prompt → stream → answer
    extraction   the extractor: conversation → candidates that cite their messages
"""

import os

# The library would greet whoever runs remem in a terminal.
os.environ.setdefault("PYDANTIC_AI_NO_BANNER", "1")
