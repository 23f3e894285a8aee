"""Labelled conversations, how they are read, and how an extractor is scored on them."""
