"""The learned bot: its scores are whole numbers that any way of adding up finds, and it plays every game."""

from __future__ import annotations

from base64 import b64decode
from itertools import islice
from typing import Any

import pytest

from bots.learned import Learned
from bots.network import integers
from bots.network.integers import PLAYERS, Network, Scorer, network_of, read
from harness import Game, encoding_of, play_match, step_match
from tests.support.games import REGISTRY, label, variants

GAMES = pytest.mark.parametrize("game", [REGISTRY.game(name).configure() for name in Learned.games], ids=label)
MAX_BYTES = 1_000_000
DECISIONS = 40
"""Decisions of a match that are looked at."""


def decisions(game: Game[Any], players: int):
    """Yield views and legal actions of a match in which the learned bot plays all seats."""
    match = step_match(game.name, [None] * players, seed=players)
    scorer = Scorer(network_of(game.name), match.game, players)
    for _ in range(DECISIONS):
        if match.advance():
            yield match.view(), match.legal, scorer
            match.answer(scorer.best(match.view(), match.legal))


@GAMES
def test_numpy_finds_the_scores_that_plain_python_finds(game):
    np = pytest.importorskip("numpy", reason="the optional numpy is not installed")
    stored = read(game.name)
    weights = np.frombuffer(b64decode(stored.weights), np.int8).reshape(-1, stored.hidden).astype(np.int64)
    known = {PLAYERS, *[number.label for number in encoding_of(game, game.max_players).numbers]}
    assert stored.view.keys() <= known, "the encoding has changed: train again"
    for players in (game.min_players, game.max_players):
        labels = [*[number.label for number in encoding_of(game, players).numbers], PLAYERS]
        for view, legal, scorer in decisions(game, players):
            numbers = dict(zip(labels, [*encoding_of(game, players).encode(view), players], strict=True))
            reached = [numbers.get(name, 0) >= least for name, given in stored.view.items() for least in given]
            base = np.array(reached) @ weights[: len(reached)] + weights[-2]
            scores = []
            for action, numbers in zip(legal, integers.DESCRIBE[game.name](game, view, legal), strict=True):
                row = len(reached)
                for kind, tables in stored.actions.items():
                    size = 1 + sum(map(len, tables))
                    if kind == action.kind:
                        asked = [n >= least for n, given in zip(numbers, tables, strict=True) for least in given]
                        units = np.maximum(0, base + np.array([True, *asked]) @ weights[row : row + size])
                    row += size
                scores.append(int(units @ weights[-1]))
            assert scorer.scores(view, legal) == scores


def test_it_chooses_between_pairs_which_no_lesson_had():
    game = REGISTRY.game("gnadenlos").configure({"variant": "experienced"})
    match = step_match("gnadenlos", [None] * 3, seed=1, options=game.settings)
    while match.advance() and match.view().phase != "hire":
        match.answer(match.legal[-1])
    scorer = Scorer(network_of("gnadenlos"), match.game, 3)
    assert {action.kind for action in match.legal} == {"take pair"}
    assert len(set(scorer.scores(match.view(), match.legal))) > 1


@pytest.mark.parametrize("game", variants(), ids=label)
def test_it_plays_every_variant_at_every_table_without_faults(game):
    for players in range(game.min_players, game.max_players + 1):
        match = play_match(game.name, ["learned", *["random"] * (players - 1)], seed=players, options=game.settings)
        assert match.faults == ()


def test_training_again_makes_the_same_network(monkeypatch):
    train = pytest.importorskip(
        "bots.network.train", reason="the optional numpy is not installed", exc_type=ImportError
    )
    monkeypatch.setattr(train, "TESTS", 2)
    game = REGISTRY.game("gnadenlos").configure()
    pairs = zip(*[islice(train.rounds(game, matches=12, epochs=1, rate=0.002, seed=3), 2) for _ in "12"], strict=True)
    for one, other in pairs:
        assert one._replace(minutes=0) == other._replace(minutes=0)
        view = step_match("gnadenlos", [None] * 3, seed=1)
        view.advance()
        assert Scorer(Network(one.trained), view.game, 3).best(view.view(), view.legal) in view.legal
    assert one.decisions > 1000


def test_its_networks_are_small():
    assert sum(integers.file_of(game).stat().st_size for game in Learned.games) < MAX_BYTES
