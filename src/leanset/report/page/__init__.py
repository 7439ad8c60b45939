from leanset.report.page.facts import Material, RunFacts, Size
from leanset.report.page.html import MOST_BYTES, check_page
from leanset.report.page.run_page import write_run_page
from leanset.report.page.study_page import StudyPart, write_study_page

__all__ = [
    "MOST_BYTES",
    "Material",
    "RunFacts",
    "Size",
    "StudyPart",
    "check_page",
    "write_run_page",
    "write_study_page",
]
