from __future__ import annotations

import pytest

from harness import BadOption, Option, UsageError
from harness.core.options import allowed_text, digest_of, resolve

DECLARED = (
    Option("edition", "de", "", choices=("de", "nl")),
    Option("target", 120, "", kind="int", minimum=10, maximum=500),
    Option("fast", False, "", kind="bool"),
    Option("file", "", "", kind="file"),
)


def settings(**given):
    return resolve("Chess", DECLARED, given)[0]


def test_defaults_are_filled_in():
    assert settings() == {"edition": "de", "target": 120, "fast": False, "file": ""}


def test_texts_become_values():
    assert settings(edition="nl", target="60", fast="yes") == {"edition": "nl", "target": 60, "fast": True, "file": ""}


@pytest.mark.parametrize("word", ["true", "yes", "on", "1", "True", "ON", True])
def test_words_for_yes(word):
    assert settings(fast=word)["fast"] is True


@pytest.mark.parametrize("word", ["false", "no", "off", "0", "False", "OFF", False])
def test_words_for_no(word):
    assert settings(fast=word)["fast"] is False


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (Option("x", "a", "", choices=("a", "b")), "a | b"),
        (Option("x", 2, "", kind="int", choices=(2, 4)), "2 | 4"),
        (Option("x", False, "", kind="bool"), "true | false"),
        (Option("x", "", "", kind="file"), "a file"),
        (Option("x", "", "", kind="bot"), "a bot"),
        (Option("x", 1, "", kind="int"), "a whole number"),
        (Option("x", 1, "", kind="int", minimum=0), "a whole number of at least 0"),
        (Option("x", 1, "", kind="int", maximum=9), "a whole number of at most 9"),
        (Option("x", 1, "", kind="int", minimum=0, maximum=9), "a whole number from 0 to 9"),
        (Option("x", "", ""), "any text"),
    ],
)
def test_the_allowed_values_of_an_option_are_described(option, said):
    assert allowed_text(option) == said


def test_a_number_has_to_be_one_of_the_choices():
    four = Option("seats", 2, "", kind="int", choices=(2, 4))
    assert resolve("Chess", (four,), {"seats": "4"})[0] == {"seats": 4}
    with pytest.raises(BadOption, match=r"Chess's option seats cannot be '3': it takes 2 \| 4\."):
        resolve("Chess", (four,), {"seats": "3"})


@pytest.mark.parametrize("target", [10, 500])
def test_the_minimum_and_the_maximum_are_allowed(target):
    assert settings(target=target)["target"] == target


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"editon": "de"},
            "Unknown option of Chess 'editon'. Did you mean 'edition'? Choose from: edition, fast, file, target.",
        ),
        ({"edition": "dee"}, "Did you mean 'de'?"),
        ({"target": "many"}, "Chess's option target cannot be 'many': it takes a whole number from 10 to 500."),
        ({"target": 9}, "a whole number from 10 to 500"),
        ({"target": 501}, "a whole number from 10 to 500"),
        ({"fast": "perhaps"}, "true | false"),
        ({"file": "nowhere.toml"}, "cannot read nowhere.toml"),
    ],
)
def test_invalid_values_are_refused_with_the_allowed_values(given, said):
    with pytest.raises(UsageError) as caught:
        settings(**given)
    assert said in str(caught.value)


def test_a_file_is_recorded_by_its_digest_and_works_after_the_file_is_deleted(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text("x = 1")
    resolved, files = resolve("Chess", DECLARED, {"file": str(path)})
    digest = digest_of("x = 1")
    assert digest == "sha256:8ff436def1451285"  # what runs of old have in their records
    assert resolved["file"] == digest
    assert files == {digest: "x = 1"}
    path.unlink()
    assert resolve("Chess", DECLARED, {"file": digest}, files) == (resolved, files)


def test_content_that_does_not_fit_its_digest_is_refused():
    with pytest.raises(BadOption, match="was changed"):
        resolve("Chess", DECLARED, {"file": digest_of("x = 1")}, {digest_of("x = 1"): "x = 2"})
    with pytest.raises(BadOption, match="no content is kept"):
        settings(file="sha256:0000000000000000")


WEIGHT = Option("weight", 0.5, "", kind="float", minimum=0, maximum=2)


def test_decimals_are_read_and_kept_within_bounds():
    assert resolve("Chess", (WEIGHT,), {})[0] == {"weight": 0.5}
    for given in ("1.25", 1.25, "125e-2"):
        assert resolve("Chess", (WEIGHT,), {"weight": given})[0] == {"weight": 1.25}
    assert allowed_text(WEIGHT) == "a number from 0 to 2"
    for refused in ("2.01", "-0.1", "nan", "inf", "much"):
        with pytest.raises(BadOption, match="it takes a number from 0 to 2"):
            resolve("Chess", (WEIGHT,), {"weight": refused})
