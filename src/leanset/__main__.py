"""`python -m leanset` is the command line."""

from leanset.cli import main

if __name__ == "__main__":
    main()
