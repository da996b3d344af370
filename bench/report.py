"""What a benchmark measured: rows of a table, JSON, a plot."""

import datetime
import importlib.metadata
import json
import pathlib

import measure
import plot

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
QUICK = 20  # --quick: that many times less


class Bench:
    """Runs jobs of one script, keeps what they measured, and prints a row for each comparison."""

    def __init__(self, options, script):
        self.options = options
        self.script = script
        self.scale = QUICK if options.quick else 1
        self.rows = []
        self.details = []

    def count(self, full):
        return max(1, full // self.scale)

    def wants(self, name):
        return self.options.only is None or self.options.only in name

    def repeat(self, job, before=None, after=None, **arguments):
        """Runs a job a few times, keeps all of it, and returns the run with the median time."""
        runs = []
        for _ in range(self.options.repeat):
            if before:
                before()
            runs.append(measure.run(self.script, job, **arguments))
            if after:
                after()
        runs.sort(key=lambda run: run.result["seconds"])
        middle = runs[len(runs) // 2]
        arguments.pop("spec", None)
        self.details.append(
            {
                "job": job,
                **arguments,
                "seconds": [run.result["seconds"] for run in runs],
                "peak_rss_anon": [run.peak_anon for run in runs],
                "peak_rss": [run.peak_resident for run in runs],
            }
        )
        return middle

    def best(self, choices, job, **arguments):
        """The fastest of a peer's settings: (name of the setting, run)."""
        runs = [(choice, self.repeat(job, **arguments, **choices[choice])) for choice in choices]
        return min(runs, key=lambda run: run[1].result["seconds"])

    def add(self, name, value, unit, peer="", peer_value=None, ratio=None, target=None, met=None):
        self.rows.append(
            {
                "name": name,
                "value": value,
                "unit": unit,
                "peer": peer,
                "peer_value": peer_value,
                "ratio": ratio,
                "target": target,
                "met": met,
            }
        )
        print(format_row(self.rows[-1]), flush=True)

    def add_ratio(self, name, unit, ours, peer, theirs, at_least=None, at_most=None):
        """A value where more is better (at_least), or where less is (at_most)."""
        ratio = ours / theirs
        target, met = at_least or at_most, None
        if at_least is not None:
            met = ratio >= at_least
        elif at_most is not None:
            met = ratio <= at_most
        self.add(name, ours, unit, peer, theirs, ratio, target, met)

    def save(self, name, title, machine, peers):
        """Leaves results/<name>.json and <name>.svg, and says how many targets were met."""
        RESULTS.mkdir(exist_ok=True)
        document = {
            "date": datetime.date.today().isoformat(),
            "quick": self.options.quick,
            "repetitions": self.options.repeat,
            "machine": machine,
            "versions": {package: version(package) for package in ("dolium", "numpy", *peers)},
            "rows": self.rows,
            "measurements": self.details,
        }
        (RESULTS / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
        bars = [
            (
                f"{row['name']} / {row['peer'].split(' (')[0]}",
                row["ratio"],
                row["target"],
                row["met"],
            )
            for row in self.rows
            if row["ratio"] is not None
        ]
        note = (
            f"{machine['cpu']}, {machine['cores']} cores; dolium / peer, the mark is the target"
            + ("; --quick" if self.options.quick else "")
        )
        if bars:
            (RESULTS / f"{name}.svg").write_text(plot.ratio_bars(title, note, bars))
        missed = [row["name"] for row in self.rows if row["met"] is False]
        met = sum(row["met"] is True for row in self.rows)
        print(f"\n{met} targets met, {len(missed)} missed")
        print(f"written: {RESULTS / name}.json, {name}.svg")


def print_header():
    print(f"{'':<58} {'dolium':>9} {'':<5} {'peer':<44} {'ratio':>8} {'target':>6}")


def add_arguments(parser):
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} times less of everything")
    parser.add_argument("--only", metavar="WORD", help="cases whose names contain it")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions [3]")


def number(value):
    if value is None:
        return ""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def format_row(row):
    verdict = {True: "met", False: "MISSED", None: ""}[row["met"]]
    peer = f"{row['peer']}: {number(row['peer_value'])}" if row["peer"] else ""
    ratio = f"{row['ratio']:.2f}x" if row["ratio"] is not None else ""
    return (
        f"{row['name']:<58} {number(row['value']):>9} {row['unit']:<5} {peer:<44} {ratio:>8} "
        f"{number(row['target']):>6} {verdict}"
    ).rstrip()


def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
