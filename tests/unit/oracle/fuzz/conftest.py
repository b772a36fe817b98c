"""Campaigns of stand-ins: workers find the module that they call."""

import os
from pathlib import Path

import pytest

from refmlc.oracle.fuzz.cage import Cages
from refmlc.oracle.fuzz.settings import CampaignSettings

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _workers_find_the_stand_in(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]))


@pytest.fixture
def held():
    cages = Cages()
    yield cages
    cages.close()


@pytest.fixture
def stand_in():
    """Settings of a campaign of stand-ins that do as they are told."""

    def made(*says, **settings):
        settings = {"size": 8, "memory": 2048, "program_seconds": 10.0} | settings
        return CampaignSettings(implementations=says, runner="stand_in:run_batch", **settings)

    return made
