"""Ctrl-C that is neither lost nor told to the wrong process.

Python raises KeyboardInterrupt in the main thread, wherever that is at the moment. In a finaliser or in a callback of the
garbage collector nobody can receive the exception: Python hands it to `sys.unraisablehook` and goes on, and the run with it.
Dask has such callbacks, and every process has finalisers.

A terminal tells Ctrl-C to all processes that were started from it. Workers of a run are ended by the run, and must not end
by themselves before, with a traceback each.
"""

import _thread
import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

_SOON = 0.01  # seconds after which a dropped interrupt comes again; by then its finaliser is mostly done
_coming = threading.Lock()  # held while one is on its way: several at once are one


@contextlib.contextmanager
def certain_interrupts() -> Iterator[None]:
    """Let an interrupt inside a block that Python has to drop come again, until somebody receives it."""
    before = sys.unraisablehook

    def send_again(dropped: "sys.UnraisableHookArgs") -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            if _coming.acquire(blocking=False):
                # Not `threading.Thread`, whose locks the main thread may hold at this moment.
                _thread.start_new_thread(_interrupt_soon, ())
        else:
            before(dropped)

    sys.unraisablehook = send_again
    try:
        yield
    finally:
        sys.unraisablehook = before


def _interrupt_soon() -> None:
    time.sleep(_SOON)
    _coming.release()
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)  # a real signal, which also ends a wait
    else:
        _thread.interrupt_main()


@contextlib.contextmanager
def held_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back until the end of a short block; threads and processes that are started inside never get it.

    The threads and processes that these start do not get it either.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is None:
        yield  # Python delivers interrupts to the main thread, which alone may change how
        return
    came: list[Any] = []
    before = signal.signal(signal.SIGINT, lambda *given: came.append(given))
    try:
        with _blocked():
            yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)


@contextlib.contextmanager
def _blocked() -> Iterator[None]:
    """Block the signal in this thread, which threads and processes that it starts inherit."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # whoever starts it unblocks the signal; so start it before
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)  # a signal that came meanwhile is delivered here
