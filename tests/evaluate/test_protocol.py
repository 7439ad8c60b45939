import numpy as np
import pytest

from leanset import InputError
from leanset.evaluate.protocol import EQUAL_EPOCHS, EQUAL_STEPS, Protocol
from leanset.training.batches import steps_of


@pytest.mark.parametrize(("n", "kept"), [(640, 640), (640, 384), (640, 128), (640, 32), (96, 64)])
@pytest.mark.parametrize("epochs", [1, 7, 20])
def test_equal_steps_are_equal_up_to_one_pass(n, kept, epochs):
    batch = 32
    full, given = epochs * len(steps_of(np.arange(n), batch)), Protocol(EQUAL_STEPS).epochs(epochs, kept, n)
    a_pass = len(steps_of(np.arange(kept), batch))
    assert abs(given * a_pass - full) <= a_pass
    assert abs(given * kept - epochs * n) <= kept / 2  # no number of passes comes nearer


def test_other_protocols_name_their_epochs():
    for kept in (10, 900):
        assert Protocol(EQUAL_EPOCHS).epochs(6, kept, 1000) == 6
        assert Protocol("epochs=13").epochs(6, kept, 1000) == 13


@pytest.mark.parametrize(
    "bad", ["", "equal", "epochs=0", "epochs=", "epochs=-2", "epochs=1.5", "epochs=2 ", "steps", "+total-decay"]
)
def test_what_is_no_protocol_is_refused_by_name(bad):
    with pytest.raises(InputError) as caught:
        Protocol(bad)
    assert repr(bad) in str(caught.value)
    assert "epochs=K" in str(caught.value)
