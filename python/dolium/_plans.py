"""Running the tasks of plans, here or elsewhere."""

from __future__ import annotations

import concurrent.futures
import os

from . import _core
from ._reports import ConvertReport, Plan, TaskReport

DEFAULT_MEMORY = 256 << 20


def run_task(task: str, *, memory: int = DEFAULT_MEMORY, jobs: int = 1) -> TaskReport:
    """Does one task of a plan, of a conversion or of a volume. Doing it twice does no harm."""
    return _core.run_task(task, memory=memory, jobs=jobs)


def run_plan(
    plan: Plan,
    executor: concurrent.futures.Executor | None = None,
    *,
    memory: int | None = None,
    jobs: int = 1,
) -> ConvertReport:
    """Runs the plan of a conversion; the same as plan.run()."""
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
