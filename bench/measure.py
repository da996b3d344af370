"""Running one measurement in a process of its own, and what that process takes."""

import dataclasses
import json
import os
import platform
import statistics
import subprocess
import sys
import threading

SAMPLE_SECONDS = 0.005


@dataclasses.dataclass
class Measurement:
    result: dict  # what the process printed
    peak_anon: int  # bytes of RssAnon, highest of all samples
    peak_resident: int  # bytes of VmRSS, highest of all samples


def _memory(pid):
    """RssAnon and VmRSS in bytes; None if the process has ended."""
    found = {}
    try:
        with open(f"/proc/{pid}/status") as status:
            for line in status:
                name, _, value = line.partition(":")
                if name in ("RssAnon", "VmRSS"):
                    found[name] = int(value.split()[0]) * 1024
    except (FileNotFoundError, ProcessLookupError):
        return None
    return (found["RssAnon"], found["VmRSS"]) if len(found) == 2 else None


def run(script, job, python=sys.executable, **arguments):
    """Runs `script job ARGUMENTS`, which prints one JSON object as its last line."""
    process = subprocess.Popen(
        [python, str(script), job, json.dumps(arguments)],
        stdout=subprocess.PIPE,
        text=True,
    )
    peaks = [0, 0]
    ended = threading.Event()

    def sample():
        while not ended.wait(SAMPLE_SECONDS):
            memory = _memory(process.pid)
            if memory:
                peaks[0] = max(peaks[0], memory[0])
                peaks[1] = max(peaks[1], memory[1])

    sampler = threading.Thread(target=sample)
    sampler.start()
    output = process.communicate()[0]
    ended.set()
    sampler.join()
    if process.returncode != 0:
        raise RuntimeError(f"{job} {arguments}: exit status {process.returncode}")
    return Measurement(json.loads(output.splitlines()[-1]), *peaks)


def median(values):
    return statistics.median(values)


def machine():
    """What the figures were measured on."""
    model = "unknown"
    with open("/proc/cpuinfo") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "load_at_start": round(os.getloadavg()[0], 2),
    }


def file_system(path):
    """The type of the file system that holds `path`."""
    done = subprocess.run(
        ["df", "--output=fstype", str(path)], capture_output=True, text=True, check=True
    )
    return done.stdout.split()[-1]


def available_memory():
    with open("/proc/meminfo") as info:
        return next(int(line.split()[1]) * 1024 for line in info if line.startswith("MemAvail"))
