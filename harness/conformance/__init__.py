"""The laws every engine must hold, to be imported in an author's own tests.

    from harness.conformance import LAWS, Trial

    @pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
    def test_my_game_holds(law):
        law(Trial(MyGame.configure(), players=3, seed=1))

A broken law raises ConformanceError with a sentence that says what happened and when. For bots there is `check_bot`.
"""

from harness.conformance.bot_check import BotReport, check_bot
from harness.conformance.information import Trial, at_random, fingerprint
from harness.conformance.laws import LAWS, check_game

__all__ = ["LAWS", "BotReport", "Trial", "at_random", "check_bot", "check_game", "fingerprint"]
