"""What the tests against peers and the kill tests share."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
