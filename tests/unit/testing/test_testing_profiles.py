"""Hypothesis profiles: nothing is registered until it is asked for; what each of them asks."""

import os
import subprocess
import sys

import pytest
from hypothesis import settings

from refmlc.testing import profiles

WITHOUT = {name: value for name, value in os.environ.items() if name not in {"CI", "TF_BUILD"}}


@pytest.mark.parametrize("machine", [WITHOUT, {**WITHOUT, "CI": "true"}], ids=["usual", "ci"])
def test_importing_registers_nothing(machine):
    """On a CI machine Hypothesis has its own profile `ci` in force, which ours must not replace."""
    code = (
        "from hypothesis import errors, settings; import refmlc.testing.profiles as profiles\n"
        "kept = settings.default\n"
        "try: settings.get_profile('refmlc-soak')\n"
        "except errors.InvalidArgument: print('none', settings.default is kept)\n"
        "profiles.register(); print(settings.get_profile('refmlc-soak').max_examples, settings.default is kept)\n"
        "profiles.load('dev'); print(settings.default.max_examples)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=machine)
    assert done.stdout.split() == ["none", "True", "10000", "True", "50"]


def test_what_the_profiles_ask():
    profiles.register()
    ci, dev, soak = (settings.get_profile(profiles.hypothesis_name(name)) for name in profiles.NAMES)
    assert ci.derandomize
    assert not dev.derandomize
    assert not soak.derandomize
    assert dev.max_examples < ci.max_examples < soak.max_examples
    assert {one.deadline for one in (ci, dev, soak)} == {None}


def test_a_name_that_is_none():
    with pytest.raises(ValueError, match="the profiles: ci, dev, soak"):
        profiles.load("quick")
