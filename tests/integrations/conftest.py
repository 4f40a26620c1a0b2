"""The toys of the trainer's tests, on the path."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
