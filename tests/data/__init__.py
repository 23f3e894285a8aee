"""Data of the tests, and what makes files of it."""
