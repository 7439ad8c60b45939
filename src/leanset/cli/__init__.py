from leanset.cli.app import main

__all__ = ["main"]
