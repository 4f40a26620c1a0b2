"""Compute the paper's theorems on when a learner is right, and write one page with their figures.

python -m scripts.theory --out theory.html      # in under a minute
"""

import argparse
from pathlib import Path

from scripts.theory.page import write


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("theory.html"), help="the page (theory.html)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write its numbers to FILE as well")
    options = parser.parse_args()
    print("\n".join(write(options.out, options.json)))


if __name__ == "__main__":
    main()
