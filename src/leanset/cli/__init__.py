import sys


def main() -> None:
    """Run the command line."""
    try:
        from leanset._interrupts import certain_interrupts  # here, so that an interrupt meanwhile ends in words, too

        with certain_interrupts():
            from leanset.cli.app import main as run

            run()
    except KeyboardInterrupt:
        sys.stderr.write("leanset: interrupted.\n")
        raise SystemExit(130) from None
    finally:
        # An interrupt inside of text that Python executes, as for dataclasses, would otherwise give `python -m leanset` another
        # exit code, although it was handled: Python only forgets it when it executes text again.
        exec("")


__all__ = ["main"]
