"""Extraction by rules: what of a conversation is worth keeping, without a model."""

from __future__ import annotations

from memory_core.extract.extractor import RulesExtractor, at_once, candidates_in, retracted_in

__all__ = ["RulesExtractor", "at_once", "candidates_in", "retracted_in"]
