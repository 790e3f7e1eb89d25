"""Fixtures of the tests of playing."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _no_power_cuts(monkeypatch):
    """A person's choice waits for the disk; a test that makes thousands of them need not."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
