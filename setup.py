"""Compiles the hot modules if ARENA_COMPILE=1 asks for it; pyproject.toml says everything else.

    ARENA_COMPILE=1 pip install .

The result holds the same sources beside their compiled forms, and a note of what each was compiled from, by which
`arena doctor` finds out when they differ.
"""

import json
import os
import runpy
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).parent
ABOUT = runpy.run_path(str(HERE / "harness" / "core" / "compiled.py"))
COMPILER = "mypy[mypyc]>=2.4"
NEEDED = [COMPILER, "msgspec>=0.18.6"]  # whose types the hot modules speak of
CHECKS = ["--config-file=", "--follow-imports=silent", "--ignore-missing-imports"]
"""Tests check types, with all that harness may use installed; a build needs those of the hot modules only."""


class BuildAndNote(build_ext):
    """Builds the modules, and notes what they were built from."""

    def run(self):
        """Called by setuptools."""
        super().run()
        if self.extensions:
            note = (HERE if self.inplace else Path(self.build_lib)) / ABOUT["MANIFEST"]
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_text(json.dumps(ABOUT["source_digests"](HERE), indent=1) + "\n")


def hot_modules():
    """The extensions to build."""
    try:
        from mypyc.build import mypycify
    except ImportError:
        sys.exit(f"ARENA_COMPILE=1 needs mypyc: pip install '{COMPILER}', or build without --no-build-isolation.")
    os.chdir(HERE)
    group = ABOUT["LIBRARY"].removesuffix("__mypyc")
    extensions = mypycify([*CHECKS, *ABOUT["hot_modules"]()], opt_level="3", debug_level="0", group_name=group)
    if sys.platform != "win32":
        for extension in extensions:
            # Otherwise every call of a function of the library goes through its table of exported symbols, and every
            # call of Python through a stub.
            extension.extra_compile_args += ["-fvisibility=hidden", "-fno-plt"]
    return extensions


wanted = os.environ.get("ARENA_COMPILE", "0").lower() not in ("", "0", "no", "false")
asked_what_it_needs = "egg_info" in sys.argv or "dist_info" in sys.argv  # so does pip, before it builds
builds = not {"build", "build_ext", "bdist_wheel", "editable_wheel", "install", "develop"}.isdisjoint(sys.argv)
setup(
    ext_modules=hot_modules() if wanted and builds else [],
    setup_requires=NEEDED if wanted and asked_what_it_needs else [],
    cmdclass={"build_ext": BuildAndNote},
)
