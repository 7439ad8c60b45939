from leanset.evaluate.compare import Answer, asked, compare, forecast_comparison, run_comparison
from leanset.evaluate.forecast import forecast
from leanset.evaluate.job import Job
from leanset.evaluate.markdown import accuracy_table, certificate_table, choosing_table, loss_table
from leanset.evaluate.panels import accuracy_panel, difference_panel
from leanset.evaluate.protocol import EQUAL_EPOCHS, EQUAL_STEPS
from leanset.evaluate.question import Question
from leanset.evaluate.setup import Setup, stratified_places
from leanset.evaluate.study import Study
from leanset.evaluate.summary import Outcome, SummaryRow, compared, methods_in, parts_of, summarise, training_seconds
from leanset.evaluate.words import verdicts
from leanset.judge import FULL

__all__ = [
    "EQUAL_EPOCHS",
    "EQUAL_STEPS",
    "FULL",
    "Answer",
    "Job",
    "Outcome",
    "Question",
    "Setup",
    "Study",
    "SummaryRow",
    "accuracy_panel",
    "accuracy_table",
    "asked",
    "certificate_table",
    "choosing_table",
    "compare",
    "compared",
    "difference_panel",
    "forecast",
    "forecast_comparison",
    "loss_table",
    "methods_in",
    "parts_of",
    "run_comparison",
    "stratified_places",
    "summarise",
    "training_seconds",
    "verdicts",
]
