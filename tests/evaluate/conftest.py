import pytest

from leanset._threads import thread_count


@pytest.fixture
def one_thread():
    """For tests that compare two trainings, whose last bit may depend on the number of threads."""
    with thread_count(1):
        yield
