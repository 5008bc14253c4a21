# SPDX-License-Identifier: Apache-2.0
"""Shows the figures that benchmarks/run wrote.

    report.py FILE.json                 prints the table
    report.py FILE.json --docs FILE.md  rewrites the tables between the markers of a document
"""

import argparse
import json
import re
from pathlib import Path

UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
HEADER = ("figure", "target", "ours", "peer", "", "ratio", "spread", "met")


def duration(seconds: float) -> str:
    """Three digits and a unit: 0.000123 is "123 us"."""
    seconds = float(f"{seconds:.3g}")
    size, unit = next(((s, u) for s, u in UNITS if seconds >= s), UNITS[-1])
    value = round(seconds / size, 6)
    decimals = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{decimals}f} {unit}"


def target(figure: dict) -> str:
    at_most = figure["target"]["at_most"]
    if at_most is None:
        return ""
    is_time = figure["target"]["quantity"] == "ours"
    return f"<= {duration(at_most)}" if is_time else f"ratio <= {at_most:.3f}"


def ratio(value: dict) -> tuple[str, str]:
    """The median and, where contestants were paired, the percentiles 5 and 95."""
    median = value["median"]
    shown = f"{median:.3f}" if median >= 0.1 else f"{median:.2g}"
    return shown, f"{value['low']:.3f} to {value['high']:.3f}" if "low" in value else ""


def rows(figure: dict) -> list[tuple[str, ...]]:
    """One row for each peer; what is said of the figure itself stands in the first."""
    ours = figure["ours"]
    time = f"{duration(ours['median'])} ({duration(ours['low'])} to {duration(ours['high'])})"
    met = {True: "yes", False: "no", None: ""}[figure["met"]]
    found = []
    for peer in figure["peers"] or [None]:
        beside = (peer["name"], duration(peer["median"]), *ratio(peer["ratio"])) if peer else ("",) * 4
        found.append((figure["title"], target(figure), time, *beside, met) if not found else ("",) * 3 + beside + ("",))
    return found


def text(document: dict) -> str:
    """All groups as one table with aligned columns."""
    lines = [HEADER]
    for group in document["groups"]:
        for figure in group["figures"]:
            lines += rows(figure)
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines
    )


def markdown(group: dict) -> str:
    lines = [HEADER, ("---",) * len(HEADER)]
    for figure in group["figures"]:
        lines += rows(figure)
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def conditions(document: dict) -> str:
    machine, build = document["machine"], document["build"]
    memory = f"{machine['memory_bytes'] / 2**30:.0f} GiB" if machine["memory_bytes"] else "unknown"
    facts = {
        "Taken": document["date"] + (f", commit {document['commit']}" if document["commit"] else ""),
        "CPU": machine["cpu"] + (", virtual machine" if machine["virtual"] else ""),
        "Cores": str(machine["cores"]) + (f", quota {machine['quota']}" if machine["quota"] else ""),
        "Caches": ", ".join(machine["caches"]) or "unknown",
        "Memory": memory,
        "Transparent huge pages": machine["huge_pages"] or "unknown",
        "Linux": machine["kernel"],
        "Compiler": f"{build['compiler']}, {build['build_type']}: {build['flags']}",
        "Load before": f"{document['load_before']:.2f}",
        "Stolen by the hypervisor": f"{100 * document['stolen_share']:.1f} % of the time",
    }
    return "\n".join(f"- {name}: {value}" for name, value in facts.items())


def rewrite(path: Path, document: dict) -> None:
    """Replaces what stands between `<!-- begin NAME -->` and `<!-- end NAME -->` of every group and of
    "conditions"; a marker that is missing is an error, since figures would be lost."""
    content = path.read_text(encoding="utf-8")
    parts = {"conditions": conditions(document)}
    parts |= {group["id"]: markdown(group) for group in document["groups"]}
    for name, part in parts.items():
        block = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        content, count = block.subn(lambda match, part=part: f"{match[1]}{part}\n{match[2]}", content)
        if count != 1:
            raise SystemExit(f"report.py: {path} has {count} places for '{name}': it needs exactly one")
    path.write_text(content, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Shows the figures that benchmarks/run wrote.")
    parser.add_argument("figures", type=Path)
    parser.add_argument("--docs", type=Path, help="rewrite the tables of this document")
    arguments = parser.parse_args()
    document = json.loads(arguments.figures.read_text(encoding="utf-8"))
    if arguments.docs:
        rewrite(arguments.docs, document)
    else:
        print(text(document))


if __name__ == "__main__":
    main()
