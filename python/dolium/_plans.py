"""Running the tasks of a plan, here or elsewhere."""

from __future__ import annotations

import concurrent.futures
import os

from . import _core
from ._reports import ConvertReport, Plan, TaskReport

DEFAULT_MEMORY = 256 << 20


def run_task(task: str, *, memory: int = DEFAULT_MEMORY, jobs: int = 1) -> TaskReport:
    """Makes one part of a plan's target. Doing it twice does no harm."""
    return _core.run_task(task, memory=memory, jobs=jobs)


def run_plan(
    plan: Plan,
    executor: concurrent.futures.Executor | None = None,
    *,
    memory: int | None = None,
    jobs: int = 1,
) -> ConvertReport:
    """Runs a plan's tasks on an executor and finishes the plan.

    Any executor with the interface of concurrent.futures will do: of threads (the default, one
    per core), processes, or Dask, Ray and MPI workers that see the same locations. `memory` and
    `jobs` are those of each task; the default threads share 256 MiB among them.
    """
    if executor is not None:
        _run_tasks(plan, executor, memory or DEFAULT_MEMORY, jobs)
        return plan.finish()
    threads = max(1, min(os.cpu_count() or 1, len(plan.tasks)))
    with concurrent.futures.ThreadPoolExecutor(threads) as own:
        _run_tasks(plan, own, memory or DEFAULT_MEMORY // threads, jobs)
    return plan.finish()


def _run_tasks(
    plan: Plan, executor: concurrent.futures.Executor, memory: int, jobs: int
) -> None:
    futures = [
        executor.submit(run_task, task, memory=memory, jobs=jobs) for task in plan.tasks
    ]
    try:
        for future in futures:
            future.result()
    except BaseException:
        for future in futures:
            future.cancel()
        raise
