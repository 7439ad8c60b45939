import io

import pytest
from rich.console import Console

from leanset._progress import Bars, Silent, part_of, reporter_for


def test_bars_show_title_rate_and_completion():
    out = io.StringIO()
    with Bars(Console(file=out, force_terminal=True, width=120)) as bars:
        with bars.stage("Counting", units=2_000_000, unit="sheep") as advance:
            bars._bars.tasks[0].start_time -= 2.0  # as if two seconds had passed
            advance(0.5)
        with bars.stage("Waiting"):
            pass
    shown = out.getvalue()
    assert "Counting" in shown
    assert "sheep/s" in shown
    assert "Waiting" in shown
    assert "100%" in shown


def test_parts_of_a_stage_fill_it_in_order():
    seen = []
    for nth in range(2):
        part_of(seen.append, nth, 2)(0.5)
    assert seen == [0.25, 0.75]


@pytest.mark.parametrize("progress", [False, None])
def test_nobody_watching_means_silence(progress):
    with reporter_for(progress) as reporter:
        assert isinstance(reporter, Silent)
