from leanset.select.aim import AIMS
from leanset.select.answer import answer_within
from leanset.select.budget import BUDGETS, LEAST_OF_A_CLASS, Budget, the_budget
from leanset.select.cache import FULL_EFFORT, LIGHT_EFFORT, SEARCH_EFFORT, MeasuredSizes
from leanset.select.coverage import Coverage, LearningRecord
from leanset.select.frontier import Frontier, FrontierPoint
from leanset.select.held_out import refits_of_comparison
from leanset.select.names import FORMULATIONS, covers, strategy_named
from leanset.select.newton import expected_rounds
from leanset.select.sizes import expected_evaluations, ladder_counts
from leanset.select.strategy import Search, Strategy
from leanset.select.task import Task, trusted_places

__all__ = [
    "AIMS",
    "BUDGETS",
    "FORMULATIONS",
    "FULL_EFFORT",
    "LEAST_OF_A_CLASS",
    "LIGHT_EFFORT",
    "SEARCH_EFFORT",
    "Budget",
    "Coverage",
    "Frontier",
    "FrontierPoint",
    "LearningRecord",
    "MeasuredSizes",
    "Search",
    "Strategy",
    "Task",
    "answer_within",
    "covers",
    "expected_evaluations",
    "expected_rounds",
    "ladder_counts",
    "refits_of_comparison",
    "strategy_named",
    "the_budget",
    "trusted_places",
]
