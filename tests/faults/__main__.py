import importlib
import sys
from pathlib import Path

NAMES = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith(("_", "test_")))


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        sys.stderr.write(f"usage: python -m tests.faults {{{','.join(NAMES)}}} [options]\n")
        return 2
    return int(importlib.import_module(f"tests.faults.{sys.argv[1]}").main(sys.argv[2:]))


if __name__ == "__main__":
    sys.exit(main())
