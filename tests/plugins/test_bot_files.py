"""Bots in files: versions side by side, what lies beside them, and what a bot is known by."""

from __future__ import annotations

import sys

import pytest

from harness.core.bot import Bot
from harness.core.errors import PluginError, UnknownName, UsageError
from harness.plugins.bot_files import load_file, source_digest, sources_of
from harness.plugins.registry import load

BOT = """
import harness
{imports}

class Sprinter(harness.Bot):
    {body}
    def choose(self, view, actions):
        return actions[{choice}]
"""


def write(path, imports="", body="pass", choice="0"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(BOT.format(imports=imports, body=body, choice=choice))
    return str(path)


@pytest.fixture
def registry():
    return load()


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(entrants):
    return [entrant.name for entrant in entrants]


def test_every_kind_of_bot_can_have_an_alias(registry, here):
    write(here / "sprinter.py")
    entrants = registry.entrants(
        ["v1=sprinter.py", "v2=sprinter.py::sprinter", "v3=flat-mc:iterations=7", ("v4", "random"), ("v5", Bare)]
    )
    assert names(entrants) == ["v1", "v2", "v3", "v4", "v5"]
    assert [e.spec for e in entrants] == [
        "v1=sprinter.py::sprinter", "v2=sprinter.py::sprinter", "v3=flat-mc:iterations=7", "v4=random", "v5=v5",
    ]  # fmt: skip
    assert entrants[2].settings["iterations"] == 7
    again = registry.entrants(e.spec for e in entrants[:4])
    assert names(again) == ["v1", "v2", "v3", "v4"]


class Bare(Bot):
    def choose(self, view, actions):
        return actions[0]


def test_an_alias_must_be_a_valid_name_for_exactly_one_bot(registry, here):
    (here / "two.py").write_text(
        "import harness\nclass A(harness.Bot):\n    def choose(self, view, actions): pass\nclass B(A): pass\n"
    )
    with pytest.raises(UsageError, match=r"v1 would be the name of 2 bots; say which .* two.py::a, two.py::b"):
        registry.entrants(["v1=two.py"])
    assert names(registry.entrants(["v1=two.py::b"])) == ["v1"]
    with pytest.raises(UsageError, match="cannot be the name"):
        registry.entrants([("a b", "random")])
    with pytest.raises(UnknownName, match="Unknown bot 'sprintr'"):
        registry.entrants(["v1=sprintr"])


def test_two_files_with_the_same_class_name_get_different_bot_names(registry, here):
    write(here / "sprinter.py", choice="0")
    write(here / "old" / "sprinter.py", choice="-1")
    now, before = registry.entrants(["sprinter.py", "old/sprinter.py"])
    assert (now.name, before.name) == ("sprinter", "old.sprinter")
    assert before.spec == "old.sprinter=old/sprinter.py::sprinter"
    assert now.bot is not before.bot
    assert now.digest != before.digest
    assert names(registry.entrants(["old/sprinter.py", "sprinter.py"])) == ["old.sprinter", "sprinter"]
    assert names(registry.entrants(["old/sprinter.py"])) == ["sprinter"]
    assert names(registry.entrants(["sprinter.py", "sprinter.py"])) == ["sprinter", "sprinter"], "it is the same one"


def test_files_of_one_folder_with_the_same_class_name_are_named_by_their_files(registry, here):
    option = 'options = (harness.Option("stars", 3, "", kind="int"),)'
    for file in ("s1.py", "s2.py", "old/s1.py", "old/walker.py"):
        write(here / file, body=option)
    first, second = registry.entrants(["s1.py", "s2.py"])
    assert (first.name, second.name) == ("s1", "s2")
    assert second.spec == "s2=s2.py::sprinter"
    assert names(registry.entrants(["s2.py", "old/walker.py"])) == ["s2", "walker"]
    several = registry.entrants(["s1.py", "s2.py", "s1.py:stars=2", "s2.py:stars=2"])
    assert names(several) == ["s1", "s2", "s1-stars-2", "s2-stars-2"]
    assert registry.entrants([one.spec for one in several]) == several
    assert names(registry.entrants(["s1.py", "s2.py", "old/s1.py", "old/walker.py"])) == [
        "s1",
        "s2",
        "old.s1",
        "old.walker",
    ]
    assert names(registry.entrants(["s1.py", "old/walker.py", "walker=random"])) == [
        "sprinter",
        "old.sprinter",
        "walker",
    ]
    assert names(registry.entrants(["v=s1.py", "v=s2.py"])) == ["v", "v"], "a mistake, which is reported"


def test_only_bots_with_the_same_name_are_renamed(registry, here):
    """Neither another setting of the same bot, nor the same bot under a name of its own."""
    option = 'options = (harness.Option("stars", 3, "", kind="int"),)'
    write(here / "sprinter.py", body=option)
    write(here / "old" / "sprinter.py", body=option)
    typed = ["old/sprinter.py", "old/sprinter.py:stars=2", "v1=old/sprinter.py", "sprinter.py"]
    assert names(registry.entrants(typed)) == ["old.sprinter", "sprinter:stars=2", "v1", "sprinter"]


def test_a_file_may_have_the_name_of_an_installed_bot(registry, here):
    (here / "outlaw.py").write_text(
        "import harness\nclass Outlaw(harness.Bot):\n    def choose(self, view, actions): return actions[0]\n"
    )
    assert names(registry.entrants(["outlaw", "outlaw.py"])) == ["outlaw", "outlaw.py"]


def test_bots_can_be_entered_from_folders_patterns_and_lists(registry, here):
    write(here / "field" / "sprinter.py")
    (here / "field" / "b.py").write_text(
        "import harness\nclass Walker(harness.Bot):\n    def choose(self, view, actions): return actions[0]\n"
    )
    (here / "field" / "helpers.py").write_text("X = 1\n")
    (here / "field" / "test_b.py").write_text("raise SystemExit\n")
    (here / "field" / "broken.py").write_text("1 / 0\n")
    assert names(registry.entrants(["field"])) == ["walker", "sprinter"]
    assert any("broken.py cannot be loaded" in problem for problem in registry.problems)
    assert names(registry.entrants(["field::walker"])) == ["walker"]
    assert names(registry.entrants(["field/[bs]*r.py", "fast=field/b.py"])) == ["sprinter", "fast"]
    (here / "list.txt").write_text("# the field\nrandom\n\nv1=field/sprinter.py\n@more.txt\n")
    (here / "more.txt").write_text("diehard\n")
    assert names(registry.entrants(["@list.txt"])) == ["random", "v1", "diehard"]
    (here / "more.txt").write_text("@list.txt\n")
    for wrong, said in (
        ("@list.txt", "without end"),
        ("@none.txt", "Cannot read the list"),
        ("field/x*.py", "no Python file"),
        ("nowhere/", "There is no file and no folder nowhere/"),
        ("a=field/*.py", "cannot all be called a"),
    ):
        with pytest.raises(UsageError, match=said):
            registry.entrants([wrong])
    (here / "empty").mkdir()
    with pytest.raises(PluginError, match="no Python file in it that defines a bot"):
        registry.entrants(["empty"])


def test_a_folder_that_is_a_package_is_one_bot(registry, here):
    write(
        here / "runner" / "play.py",
        imports="from .net import CHOICE\nfrom runner.net import CHOICE as AGAIN",
        choice="CHOICE",
    )
    (here / "runner" / "net.py").write_text("CHOICE = 1\n")
    (here / "runner" / "__init__.py").write_text("from .play import Sprinter\n")
    [entrant] = registry.entrants(["runner"])
    assert entrant.bot().choose(None, ["a", "b"]) == "b"
    before = entrant.digest
    (here / "runner" / "net.py").write_text("CHOICE = 0\n")
    [entrant] = load().entrants(["v2=runner/"])
    assert entrant.digest != before
    assert entrant.bot().choose(None, ["a", "b"]) == "a"


LAZY = """
import harness
import helpers

class Sprinter(harness.Bot):
    def choose(self, view, actions):
        from parts.late import PLUS
        import parts.late as late
        return actions[helpers.CHOICE + PLUS + late.PLUS]
"""


def test_each_bot_imports_modules_from_its_own_folder_even_during_a_match(registry, here):
    for folder, choice, plus in (("v1", 0, 1), ("v2", 2, 2)):
        (here / folder / "parts").mkdir(parents=True)
        (here / folder / "sprinter.py").write_text(LAZY)
        (here / folder / "helpers.py").write_text(f"CHOICE = {choice}\n")
        (here / folder / "parts" / "__init__.py").touch()
        (here / folder / "parts" / "late.py").write_text(f"PLUS = {plus}\n")
    one, two = registry.entrants(["v1/sprinter.py", "v2/sprinter.py"])
    assert names([one, two]) == ["v1.sprinter", "v2.sprinter"]
    assert [e.bot().choose(None, range(9)) for e in (two, one, two)] == [6, 2, 6]
    assert "helpers" not in sys.modules
    assert "parts" not in sys.modules
    assert sorted(sources_of("v1/sprinter.py")) == ["helpers.py", "parts/__init__.py", "parts/late.py", "sprinter.py"]
    assert not list(here.rglob("__pycache__")), "nothing is left beside an author's files"


def test_modules_next_to_a_bot_do_not_shadow_arenas_packages(registry, here):
    """Also a checkout has folders called engines and bots."""
    for name in ("engines", "bots", "harness"):
        (here / name).mkdir()
        (here / name / "__init__.py").write_text("raise SystemExit\n")
    write(here / "sprinter.py", imports="from engines.el_paso import ElPasoView\nimport bots")
    [entrant] = registry.entrants(["sprinter.py"])
    assert entrant.bot().choose(None, [1, 2]) == 1


def test_a_bot_file_may_have_the_name_of_a_library_that_it_imports(registry, here):
    path = write(here / "msgspec.py", imports="import msgspec", choice="len(msgspec.json.encode(1))")
    assert registry.entrant(path).bot().choose(None, "ab") == "b"


def test_the_digest_of_a_bot_depends_on_its_files_and_not_on_its_version(registry, here):
    path = write(here / "sprinter.py", imports="import helpers", body='version = "1"; files = ("weights.txt",)')
    (here / "helpers.py").write_text("X = 1\n")
    (here / "weights.txt").write_text("1 2 3")

    def digest():
        [entrant] = load().entrants([path])
        assert entrant.version == "1"
        return entrant.digest

    seen = [digest(), digest()]
    assert seen[0] == seen[1]
    (here / "helpers.py").write_text("X = 2\n")
    seen.append(digest())
    (here / "weights.txt").write_text("1 2 4")
    seen.append(digest())
    write(here / "sprinter.py", imports="import helpers", body='version = "1"; files = ("weights.txt",)', choice="1")
    seen.append(digest())
    assert len(set(seen)) == 4
    write(here / "sprinter.py", body='files = ("../weights.txt",)')
    with pytest.raises(PluginError, match="name files in its folder"):
        load().entrants([path])


def test_installed_bots_and_their_guides_have_a_digest(registry):
    outlaw, guided, broker = registry.entrants(["outlaw", "ismcts:guide=broker", "broker"])
    assert outlaw.digest == broker.digest == guided.digest, "they are of one package"
    assert outlaw.digest.startswith("sha256:")


def test_stored_sources_are_loaded_even_if_the_file_has_changed(here):
    path = write(here / "sprinter.py", imports="import helpers", choice="helpers.X")
    (here / "helpers.py").write_text("X = 1\n")
    kept = sources_of(path)
    (here / "helpers.py").write_text("1 / 0\n")
    (here / "sprinter.py").write_text("1 / 0\n")
    assert load_file(path, kept).Sprinter().choose(None, "ab") == "b"
    with pytest.raises(PluginError, match="ZeroDivisionError"):
        load_file(path)


PICKLED = """
import importlib, io, pickle
from pathlib import Path
import harness

HERE = Path(__file__).parent
EARLY = pickle.loads((HERE / "model.pkl").read_bytes())


class Unpickler(pickle._Unpickler):  # in Python, as those of torch and joblib are
    pass


class Sprinter(harness.Bot):
    def choose(self, view, actions):
        named = importlib.import_module("model").Model()
        late = pickle.loads((HERE / "model.pkl").read_bytes())
        slowly = Unpickler(io.BytesIO((HERE / "model.pkl").read_bytes())).load()
        return [each.version for each in (EARLY, named, late, slowly)]
"""


def test_pickles_and_dynamic_imports_use_the_modules_of_the_bots_own_folder(registry, here):
    for folder in ("v1", "v2"):
        (here / folder).mkdir()
        (here / folder / "model.py").write_text(f"class Model:\n    version = {folder!r}\n")
        (here / folder / "sprinter.py").write_text(PICKLED)
        (here / folder / "model.pkl").write_bytes(b"\x80\x04\x8c\x05model\x8c\x05Model\x93)\x81.")  # model.Model()
    one, two = registry.entrants(["v1/sprinter.py", "v2/sprinter.py"])
    for entrant, version in ((two, "v2"), (one, "v1"), (two, "v2")):
        assert entrant.bot().choose(None, None) == [version] * 4
    with pytest.raises(AttributeError, match="is next to a bot"):
        sys.modules["model"].Model  # noqa: B018 - for nobody else
    del sys.modules["model"]


def test_the_digest_of_a_notebook_bot_covers_the_functions_and_values_it_uses():
    def make(step):
        class Stepper(Bot):
            def choose(self, view, actions):
                return actions[helper(step)]

        return Stepper

    def helper(step):
        return step

    one, other, again = make(0), make(1), make(0)
    assert source_digest(one) == source_digest(again)
    assert source_digest(one) != source_digest(other)
    first = source_digest(one)

    def helper(step):  # noqa: F811 - typed again, as in a notebook
        return step + 1

    assert source_digest(one) != first


def test_the_digest_of_a_bot_covers_the_bots_that_it_loads_by_name(registry, here):
    write(here / "sprinter.py", imports='from harness import bot_named\nHANDS = bot_named("outlaw")')
    entrant = registry.entrant("sprinter.py")
    assert entrant.digest.endswith(f", outlaw {registry.entrant('outlaw').digest}")
    assert entrant.consulted == ()
