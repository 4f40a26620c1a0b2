"""What tests share: small models, studies, servers and files.

A process that a test starts finds this package with `env=os.environ | toys.FINDS_TOYS`.
"""

import os
import sys
from pathlib import Path

FINDS_TOYS = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])}
