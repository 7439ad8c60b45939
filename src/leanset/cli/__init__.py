import sys


def main() -> None:
    """Run the command line."""
    try:
        from leanset.cli.app import main as run  # here, so that an interrupt while it is imported ends in words, too

        run()
    except KeyboardInterrupt:
        sys.stderr.write("leanset: interrupted.\n")
        raise SystemExit(130) from None


__all__ = ["main"]
