import subprocess
import sys

import pytest

from leanset import data, training


def test_dynamics_are_the_same_class_on_both_paths():
    assert training.Dynamics is data.Dynamics


@pytest.mark.parametrize("absent", ["torch", "lightning_fabric"])
def test_a_missing_package_is_answered_with_the_extra_to_install(absent):
    code = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "{absent}":
            raise ModuleNotFoundError(name, name="{absent}")
sys.meta_path.insert(0, Absent())
import leanset.scores
from leanset.data import Dynamics
from leanset import MissingExtraError
try:
    import leanset.training
except MissingExtraError as error:
    sys.exit(str(error))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'Training a network needs the `torch` extra: pip install "leanset[torch]"' in done.stderr
