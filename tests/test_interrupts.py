import gc
import multiprocessing
import signal
import sys
import threading

import pytest

from leanset._interrupts import certain_interrupts, held_interrupts


class Unlucky:
    """Receives the signal in its finaliser, from which no exception gets out."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


def in_a_finaliser():
    Unlucky()


def in_the_garbage_collector():
    def callback(phase, info):
        gc.callbacks.remove(callback)
        signal.raise_signal(signal.SIGINT)

    gc.callbacks.append(callback)
    gc.collect()


@pytest.mark.parametrize("interrupted", [in_a_finaliser, in_the_garbage_collector])
def test_an_interrupt_that_python_drops_comes_again(interrupted):
    def work():
        with certain_interrupts():
            interrupted()
            threading.Event().wait(60)  # ended by nothing but a signal

    with pytest.raises(KeyboardInterrupt):
        work()


def test_other_exceptions_that_python_drops_are_shown_as_before(monkeypatch):
    class Wrong:
        def __del__(self):
            raise ValueError("wrong")

    shown = []
    monkeypatch.setattr(sys, "unraisablehook", lambda dropped: shown.append(str(dropped.exc_value)))
    mine = sys.unraisablehook
    with certain_interrupts():
        Wrong()
    assert shown == ["wrong"]
    assert sys.unraisablehook is mine


def test_a_held_interrupt_comes_at_the_end_of_the_block():
    before, done = signal.getsignal(signal.SIGINT), []

    def work():
        with held_interrupts():
            signal.raise_signal(signal.SIGINT)
            done.append("the rest of the block")
        done.append("more")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["the rest of the block"]
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with held_interrupts():
        pass  # no interrupt is left over


def _report_blocked(answer):
    answer.put(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))


def test_a_process_that_is_started_meanwhile_never_gets_interrupts():
    # Workers used to turn them off by themselves, after their imports; Ctrl-C before that printed a traceback for each.
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    direct, by_a_thread = (context.Process(target=_report_blocked, args=(answer,)) for _ in range(2))
    thread = threading.Thread(target=by_a_thread.start)
    with held_interrupts():
        direct.start()
        thread.start()
    thread.join()
    assert [answer.get(timeout=60) for _ in range(2)] == [True, True]
    for process in (direct, by_a_thread):
        process.join()


def test_a_thread_may_ask_for_it_to_no_effect():
    seen = []

    def work():
        with held_interrupts():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]
