import pytest

from leanset.evaluate.panels import panels_of
from leanset.evaluate.protocol import EQUAL_EPOCHS, EQUAL_STEPS
from leanset.evaluate.summary import summarise
from leanset.judge import FULL, LEANSET, STRATIFIED


def training(method, fraction, accuracy, protocol=EQUAL_EPOCHS, model="lenet"):
    names = ("method", "fraction", "accuracy", "protocol", "model")
    return dict(zip(names, (method, fraction, accuracy, protocol, model), strict=True)) | {"seed": 0, "seconds": 1.0}


def drawn(trainings):
    return panels_of(summarise(trainings, STRATIFIED))


CURVES = [
    training(FULL, 0.0, 0.9),
    *(training(STRATIFIED, fraction, 0.7) for fraction in (0.4, 0.8)),
    *(training(LEANSET, fraction, 0.72 + fraction / 10) for fraction in (0.4, 0.8)),
]
POINTS = [training(method, 0.4, 0.8, EQUAL_STEPS) for method in (STRATIFIED, LEANSET)]


def test_a_part_with_one_fraction_is_left_to_the_tables_beside_curves_and_drawn_alone():
    further = training(LEANSET, 0.8, 0.7, EQUAL_STEPS)  # nothing to hold it against
    assert [panel.title for panel in drawn([*CURVES, *POINTS, further])] == [
        "lenet, equal epochs",
        "lenet, equal epochs: against random",
    ]
    assert [panel.title for panel in drawn(POINTS)] == ["lenet, equal steps", "lenet, equal steps: against random"]


def test_accuracies_and_differences_are_in_points_beside_those_of_all_data_and_random():
    accuracy, difference = drawn(CURVES)
    by_name = {curve.name: list(curve.mean) for curve in accuracy.curves}
    assert by_name["leanset"] == pytest.approx([76, 80])
    assert accuracy.reference == pytest.approx(90)
    [ours] = difference.curves
    assert list(ours.mean) == pytest.approx([6, 10])
    assert difference.reference == 0


def test_no_gain_is_cut_off_and_a_collapse_is():
    _, difference = drawn([*CURVES, training("el2n", 0.4, 0.2), training("el2n", 0.8, 0.1)])
    low, high = difference.y_limits
    means = {curve.name: curve.mean for curve in difference.curves}
    assert high > max(means["leanset"])
    assert max(means["el2n"]) < low
