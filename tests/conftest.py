"""What the tests against peers and the kill tests share."""

import os
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
# Servers of tests are on this machine.
os.environ["no_proxy"] = os.environ["NO_PROXY"] = "*"
# Run in the background, a shell's children ignore it, and so would those that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
