"""Attempts to break leanset, each a command of its own: `python -m tests.faults NAME`."""
