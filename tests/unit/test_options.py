from __future__ import annotations

import pytest

from harness import BadOption, Option, UsageError
from harness.core.options import digest_of, resolve

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


@pytest.mark.parametrize("target", [10, 500])
def test_the_least_and_the_most_are_allowed_themselves(target):
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
def test_bad_ones_are_refused_with_what_is_allowed(given, said):
    with pytest.raises(UsageError) as caught:
        settings(**given)
    assert said in str(caught.value)


def test_a_file_is_recorded_by_its_digest_and_found_again_without_the_file(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text("x = 1")
    resolved, files = resolve("Chess", DECLARED, {"file": str(path)})
    digest = digest_of("x = 1")
    assert resolved["file"] == digest
    assert files == {digest: "x = 1"}
    path.unlink()
    assert resolve("Chess", DECLARED, {"file": digest}, files) == (resolved, files)


def test_content_that_does_not_fit_its_digest_is_refused():
    with pytest.raises(BadOption, match="was changed"):
        resolve("Chess", DECLARED, {"file": digest_of("x = 1")}, {digest_of("x = 1"): "x = 2"})
    with pytest.raises(BadOption, match="no content is kept"):
        settings(file="sha256:0000000000000000")
