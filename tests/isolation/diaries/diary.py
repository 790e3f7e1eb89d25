"""Bots that write down the hidden number of each deal, wherever they can, and look it up when the deal comes again."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from contextlib import suppress
from pathlib import Path

import harness

MODULE: dict[int, int] = {}


class Diary(harness.Bot):
    """Guesses at random what it has not written down."""

    def known(self) -> dict[int, int]:
        raise NotImplementedError

    def write(self, label: int, number: int) -> None:
        raise NotImplementedError

    def choose(self, view, actions):
        if view.shown >= 0:
            self.write(view.label, view.shown)
        number = self.known().get(view.label)
        self.note("remembered" if number is not None and view.shown < 0 else "new")
        return actions[int(self.rng.random() * len(actions)) if number is None else number]


class ClassDiary(Diary):
    """Keeps it in its class."""

    pages: dict[int, int] = {}  # noqa: RUF012 - that is the point

    def known(self):
        return self.pages

    def write(self, label, number):
        self.pages[label] = number


class ModuleDiary(Diary):
    """Keeps it in its module."""

    def known(self):
        return MODULE

    def write(self, label, number):
        MODULE[label] = number


class FileDiary(Diary):
    """Keeps it in its scratch folder."""

    def known(self):
        with suppress(OSError, ValueError):
            return {int(key): value for key, value in json.loads(self.page.read_text()).items()}
        return {}

    def write(self, label, number):
        self.page.write_text(json.dumps({**self.known(), label: number}))

    page = Path(tempfile.gettempdir(), "diary.json")


class Cheater(Diary):
    """Takes over the process that is to be copied: plays in it itself, by a signal of the copy that wakes it."""

    def choose(self, view, actions):
        with suppress(OSError):
            os.kill(os.getppid(), signal.SIGCONT)
        ClassDiary.write(self, view.label, view.shown) if view.shown >= 0 else None
        return super().choose(view, actions)

    pages = ClassDiary.pages
    known, write = ClassDiary.known, ClassDiary.write
