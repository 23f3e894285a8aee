"""Tests of bot.models."""
