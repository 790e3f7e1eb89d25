"""What the tests of X-Pasch's rules share."""

from __future__ import annotations

import pytest

from engines.x_pasch import XPasch


@pytest.fixture
def game() -> XPasch:
    return XPasch.configure()
