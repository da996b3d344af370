"""Whether other threads run while a call is under way."""

import threading
import time

ATTEMPTS = 30


def is_free_during(call, patience=0.0):
    """Whether this thread never waits for half of a call that another makes, or for no more than
    `patience` seconds.

    Other processes may keep this one from the processor while it watches, but not every time: one
    run that shows it is proof, because with the GIL held none could.
    """
    return any(_waits_little(call, patience) for _ in range(ATTEMPTS))


def _waits_little(call, patience):
    faults, times = [], {}

    def work():
        times["began"] = time.perf_counter()
        try:
            call()
        except BaseException as error:
            faults.append(error)
        times["ended"] = time.perf_counter()

    worker = threading.Thread(target=work)
    ticks = []
    worker.start()
    while worker.is_alive():
        ticks.append(time.perf_counter())
        time.sleep(0)
    worker.join()
    if faults:
        raise faults[0]
    began, ended = times["began"], times["ended"]
    within = [began, *(tick for tick in ticks if began < tick < ended), ended]
    longest = max(later - earlier for earlier, later in zip(within, within[1:]))
    return longest < max(patience, (ended - began) / 2)
