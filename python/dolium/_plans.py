"""Plan: bulk work under way, of any kind, whose tasks run here or elsewhere."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import os
from typing import Any

from . import _core
from ._progress import Progress, ProgressFunction, shown
from ._reports import JobReport, TaskReport, WriteSummary

DEFAULT_MEMORY = 256 << 20


class Tasks(list[str]):
    """A list that may be called, because `plan.tasks` was a list before it was a method."""

    __slots__ = ()

    def __call__(self) -> Tasks:
        return self


def run_task(task: str, *, memory: int = DEFAULT_MEMORY, jobs: int = 1) -> TaskReport:
    """Does one task of a plan, of any kind, in any process that sees the same locations. Doing it
    twice does no harm. ConflictError if its source is no longer what the plan was made for."""
    return _core.run_task(task, memory=memory, jobs=jobs)


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """Bulk work that is under way: a conversion, a new volume, new scales, an export, a set of
    shards. Plain data: it can be pickled.

    Tasks are text. Any process that sees the same locations may run them, by run_task() or by
    `dolium task`, in any order and any number of times; but those of a stage need those of the
    stages before it. finish() completes the work once all are done; run() does it all.
    """

    kind: str  # "convert", "volume", "dvid", ...
    target: str  # location of the result
    folder: str  # that carries the marker; empty: there is nothing to do
    stages: list[list[str]]  # tasks not yet done
    parts: int  # tasks of all stages, done or not
    parts_done: int  # by an earlier run
    entries: int  # entries or chunks of all parts
    entries_done: int  # in the parts that are done
    bytes: int = 0  # stored, in the source, where that is known
    adds: bool = False  # the result is a part of what is at `target`
    # Its parts become known only while it runs, one after another: it has no tasks.
    is_stream: bool = False
    force: bool = False  # files that are in the way of those of the job are replaced
    # The report, once this plan has been completed here.
    _completed: list[JobReport] = dataclasses.field(
        default_factory=list, repr=False, compare=False
    )

    @property
    def tasks(self) -> Tasks:
        """The tasks that are left, one stage after the other: `plan.tasks()`. NotImplementedError
        for a stream, which has none."""
        self._check_tasks()
        return Tasks(task for tasks in self.stages for task in tasks)

    @property
    def home(self) -> str:
        """An older name of `folder`."""
        return self.folder

    @property
    def volume(self) -> str:
        """The same as `target`."""
        return self.target

    @property
    def chunks(self) -> int:
        """The same as `entries`."""
        return self.entries

    @property
    def chunks_done(self) -> int:
        """The same as `entries_done`."""
        return self.entries_done

    def run(
        self,
        executor: concurrent.futures.Executor | None = None,
        *,
        memory: int | None = None,
        jobs: int | None = None,
        progress: Progress | None = None,
    ) -> JobReport:
        """Runs all tasks, stage by stage, and finishes the plan. One that it has completed, and
        whose result is there, it does not do again: the report is the same.

        Without an executor they run on threads of ours, which share `memory` bytes (256 MiB);
        `jobs` is their number (one per core), and `progress` is called with entries done, all
        entries, and bytes; True shows a bar, if standard error is a terminal.

        Any executor with the interface of concurrent.futures will do: of threads, processes, or
        Dask, Ray and MPI workers that see the same locations. `memory` and `jobs` (1) are then
        those of each task, and `progress` is called with parts done, all parts, and bytes.
        """
        memory = DEFAULT_MEMORY if memory is None else memory
        if not self.folder:
            return self._report(None)
        if self._completed and os.path.exists(self.target):
            return self._completed[0]
        if executor is not None:
            self._check_tasks()
        with shown(progress, self.kind) as advance:
            if executor is None:
                report = _core.run_job(self.folder, self.force, memory, jobs or 0, advance)
                return self._complete(report)
            self._run_stages(executor, memory, 1 if jobs is None else jobs, advance)
        return self.finish()

    def finish(self) -> JobReport:
        """Checks that every part is there, completes the result and makes it appear."""
        if not self.folder:
            return self._report(None)
        if self._completed and os.path.exists(self.target):
            return self._completed[0]
        return self._complete(_core.finish_job(self.folder, self.force))

    def _check_tasks(self) -> None:
        if self.is_stream:
            raise NotImplementedError(
                f"{self.target}: its parts become known only while it runs, one after another; it "
                "has no tasks for other processes: run() does it on threads"
            )

    def _complete(self, report: JobReport) -> JobReport:
        self._completed[:] = [self._report(report)]
        return self._completed[0]

    def _report(self, report: JobReport | None) -> JobReport:
        if report is None:
            return JobReport(WriteSummary(0, 0, 0, 0), 0, 0, [], self.target)
        return dataclasses.replace(
            report,
            parts=report.parts if self.is_stream else self.parts,
            parts_done_before=self.parts_done,
            target=self.target if self.adds else report.target,
        )

    def _run_stages(
        self,
        executor: concurrent.futures.Executor,
        memory: int,
        jobs: int,
        progress: ProgressFunction | None,
    ) -> None:
        done, size = self.parts_done, 0
        for tasks in self.stages:
            futures = [
                executor.submit(run_task, task, memory=memory, jobs=jobs) for task in tasks
            ]
            try:
                for future in concurrent.futures.as_completed(futures):
                    size += future.result().written.value_bytes
                    done += 1
                    if progress is not None:
                        progress(done, self.parts, size)
            except BaseException:
                for future in futures:
                    future.cancel()
                raise


def find_plan(folder: Any) -> Plan:
    """The plan of the job whose marker is in a folder, whoever began it, of any kind: as
    `--plan` of a command left it, say. FileNotFoundError if there is none."""
    return _core.find_job(folder)


def run_plan(
    plan: Plan,
    executor: concurrent.futures.Executor | None = None,
    *,
    memory: int | None = None,
    jobs: int | None = None,
) -> JobReport:
    """The same as plan.run()."""
    return plan.run(executor, memory=memory, jobs=jobs)
