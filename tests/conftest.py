"""What the tests against peers and the kill tests share."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
# Servers of tests are on this machine.
os.environ["no_proxy"] = os.environ["NO_PROXY"] = "*"
