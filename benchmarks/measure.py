# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmark programs of a build tree and puts their figures together.

    measure.py BUILD_TREE [--quick] [--only GROUP]... [--out FILE.json] [--docs FILE.md]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import figures
import machine
import report

ROOT = Path(__file__).resolve().parent.parent


def programs(build: Path, quick: bool) -> dict[str, list[list[str]]]:
    """The command lines of each group, without where to write to."""
    binary = build / "bin"
    repetitions = ["--benchmark_repetitions=" + ("3" if quick else "15")]
    repetitions += ["--benchmark_enable_random_interleaving=true"]
    rounds = ["--rounds", "6" if quick else "40"]
    elements = ["--elements", str(2**22 if quick else 2**26)]
    stream = ["-s", str(2**20), "-n", "20"] if quick else []
    sizes = ["--mebibytes", "64"] if quick else []
    return {
        "launch": [[f"{binary}/bench-launch", *repetitions], [f"{binary}/bench-events", *repetitions]],
        "triad": [
            [f"{binary}/bench-triad", "--peer", peer, *elements, *rounds] for peer in ("tbb", "omp")
        ],
        "babelstream": [[f"{binary}/bench-babelstream", *stream]],
        "copy": [[f"{binary}/bench-copy", *sizes, *rounds]],
        "start": [[f"{binary}/bench-start", "--halinfo", f"{binary}/halinfo", *rounds]],
    }


def run(command: list[str], output: Path) -> dict:
    """Runs one program and returns what it wrote."""
    is_micro = any(argument.startswith("--benchmark_") for argument in command)
    where = [f"--benchmark_out={output}"] if is_micro else ["--json", str(output)]
    # Waiting threads of OpenMP would spin and take the cores from what is measured next.
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    print(f"==> {Path(command[0]).name} {' '.join(command[1:])}", flush=True)
    if subprocess.run([*command, *where], env=environment).returncode != 0:
        sys.exit(f"measure.py: {command[0]} failed; what it wrote above says why")
    return json.loads(output.read_text(encoding="utf-8"))


def spread(samples: list[float]) -> dict:
    """Median and percentiles 5 and 95, as statistics.hpp computes them."""

    def quantile(fraction: float) -> float:
        place = fraction * (len(ordered) - 1)
        below = int(place)
        above = min(below + 1, len(ordered) - 1)
        return ordered[below] + (place - below) * (ordered[above] - ordered[below])

    ordered = sorted(samples)
    return {"median": statistics.median(ordered), "low": quantile(0.05), "high": quantile(0.95)}


def micro_figures(document: dict) -> dict[str, dict]:
    """Figures of a Google Benchmark document: benchmarks are named `figure/contestant`, times are
    nanoseconds, and the one called hal is ours. Contestants are not paired, so ratios are those of
    the medians and have no spread."""
    times: dict[str, dict[str, list[float]]] = {}
    # Repetitions come in random order; the families are numbered as the program registers them.
    for entry in sorted(document["benchmarks"], key=lambda entry: entry["family_index"]):
        if entry["run_type"] == "iteration":
            figure, contestant = entry["name"].split("/")[:2]
            times.setdefault(figure, {}).setdefault(contestant, []).append(entry["real_time"] * 1e-9)
    found = {}
    for figure, contestants in times.items():
        ours = {"name": "HAL", **spread(contestants.pop("hal"))}
        peers = [{"name": name, **spread(samples)} for name, samples in contestants.items()]
        for peer in peers:
            peer["ratio"] = {"median": ours["median"] / peer["median"]}
        found[figure] = {"ours": ours, "peers": peers}
    return found


def paired_figures(document: dict) -> dict[str, dict]:
    """Figures of the other programs. Several comparisons of one id are one figure with several peers,
    the first of which is the one to judge by."""
    found = {}
    for entry in document["comparisons"]:
        ratio = {
            **entry["ratio"],
            "interval": [entry["ratio_interval"]["low"], entry["ratio_interval"]["high"]],
        }
        figure = found.setdefault(entry["id"], {})
        figure["ours"] = {"name": entry["ours"], **entry["ours_seconds"]}
        peer = {"name": entry["peer"], **entry["peer_seconds"], "ratio": ratio}
        figure.setdefault("peers", []).append(peer)
        figure["rounds"] = entry["rounds"]
    return found


def judge(figure: figures.Figure, found: dict) -> dict:
    """`found` with the figure's name and target, and whether it was met."""
    measured = found["ours"] if figure.quantity == "ours" else found["peers"][0]["ratio"]
    target = {"quantity": figure.quantity, "at_most": figure.at_most}
    met = measured["median"] <= figure.at_most if figure.at_most is not None else None
    return {"id": figure.id, "title": figure.title, **found, "target": target, "met": met}


def measure(build: Path, quick: bool, only: list[str]) -> dict:
    stolen_before, ticks_before = machine.cpu_ticks()
    load_before = os.getloadavg()[0]
    found: dict[str, dict] = {}
    with tempfile.TemporaryDirectory() as folder:
        for group, commands in programs(build, quick).items():
            for command in commands if group in only else []:
                document = run(command, Path(folder) / "figures.json")
                is_micro = "benchmarks" in document
                found |= micro_figures(document) if is_micro else paired_figures(document)
    stolen, ticks = machine.cpu_ticks()
    return {
        "schema_version": 1,
        "date": machine.now(),
        "commit": machine.commit(ROOT),
        "quick": quick,
        "machine": machine.describe(),
        "load_before": load_before,
        "stolen_share": (stolen - stolen_before) / max(1, ticks - ticks_before),
        "build": machine.compiler(build),
        "unit": "seconds",
        "groups": [
            {
                "id": group.id,
                "title": group.title,
                "figures": [judge(f, found[f.id]) for f in group.figures if f.id in found],
            }
            for group in figures.GROUPS
            if group.id in only
        ],
    }


def main() -> None:
    names = [group.id for group in figures.GROUPS]
    parser = argparse.ArgumentParser(prog="benchmarks/run", description="Measures HAL beside its peers.")
    parser.add_argument("build", type=Path, help="a build tree with the benchmarks and halinfo in it")
    parser.add_argument("--quick", action="store_true", help="small and few: a look, not a figure")
    parser.add_argument("--only", choices=names, action="append", help="this group; may be repeated")
    parser.add_argument("--out", type=Path, help="write all figures to this file")
    parser.add_argument("--docs", type=Path, help="rewrite the tables of this document")
    arguments = parser.parse_args()
    if arguments.docs and (arguments.quick or arguments.only):
        parser.error("--docs shows complete figures: leave out --quick and --only")
    if arguments.out and not arguments.out.absolute().parent.is_dir():
        parser.error(f"there is no folder {arguments.out.parent} to write the figures to")
    only = arguments.only or names
    commands = [c for group, c in programs(arguments.build, arguments.quick).items() if group in only]
    for path in {command[0] for group in commands for command in group}:
        if not Path(path).is_file():
            parser.error(f"there is no {path}: build the benchmarks there first")

    document = measure(arguments.build, arguments.quick, only)
    print()
    print(report.text(document))
    if arguments.out:
        arguments.out.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    if arguments.docs:
        report.rewrite(arguments.docs, document)


if __name__ == "__main__":
    main()
