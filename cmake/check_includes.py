# SPDX-License-Identifier: Apache-2.0
"""Checks the directions of use between the folders of the tree.

    check_includes.py <root of the tree>

Prints one line a violation and exits 1 if there is any. The rules are the table below.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Folder:
    uses: tuple[str, ...]  # path prefixes in the tree it may include
    third_party: bool = True  # may it include other libraries than the standard one?
    vendor_names: bool = False  # may it name a vendor's symbols and libraries?


PUBLIC = "hal/include/"
SPI = "hal/src/spi/"

FOLDERS = {
    "hal/include": Folder(uses=(PUBLIC,), third_party=False),
    "hal/src": Folder(uses=("hal/",)),
    "devices/null": Folder(uses=(PUBLIC + "hal/backend.h", "devices/null/"), third_party=False),
    "devices": Folder(uses=("hal/", "devices/"), vendor_names=True),
    "memory": Folder(uses=(PUBLIC, SPI, "memory/")),
    "streams": Folder(uses=(PUBLIC, SPI, "streams/")),
    "kernels": Folder(uses=(PUBLIC, SPI, "memory/", "streams/", "kernels/")),
    "bindings": Folder(uses=(PUBLIC, SPI, "memory/", "streams/", "kernels/", "bindings/")),
    "tools": Folder(uses=(PUBLIC, "tools/")),
    "examples": Folder(uses=(PUBLIC, "examples/")),
    "benchmarks": Folder(uses=(PUBLIC, "benchmarks/")),
    "tests": Folder(uses=("",), vendor_names=True),
}

SOURCES = {".c", ".cc", ".cpp", ".h", ".hpp", ".inl"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
VENDOR_NAME = re.compile(
    r"\b(?:cu|cuda|nvml|hip|hsa|hg|hgml|rsmi|amdsmi)[A-Z]\w*\s*\("
    r"|\blib(?:cuda|cudart|nvidia|nvrtc|nvml|amdhip|hiprtc|hsa|rocm|amd_smi|hggc|hgml)\w*"
)
# <vector>, <cstdint>: no slash, no suffix. Of the C headers, those of the freestanding kind.
STANDARD = re.compile(r"^[a-z_0-9]+$|^(?:stdint|stddef|stdbool)\.h$")


def without_comments(text: str) -> str:
    def keep_lines(match: re.Match) -> str:
        token = match.group()
        return token if token[0] == '"' else re.sub(r"[^\n]", " ", token)

    return COMMENT_OR_STRING.sub(keep_lines, text)


def place_in_tree(root: Path, source: Path, quoted: bool, name: str, roots: list[Path]) -> str | None:
    """The included file as a path in the tree, or None when it is somebody else's."""
    for directory in ([source.parent] if quoted else []) + roots:
        candidate = (directory / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return None


def violations(root: Path, source: Path, folder: str, rule: Folder):
    text = without_comments(source.read_text(encoding="utf-8"))
    place = source.relative_to(root).as_posix()
    roots = [root / "hal/include", root / "hal/src", root / place.split("/")[0], root]

    def at(offset: int) -> str:
        return f"{place}:{text.count(chr(10), 0, offset) + 1}"

    for match in INCLUDE.finditer(text):
        bracket, name = match.groups()
        target = place_in_tree(root, source, bracket == '"', name, roots)
        if target is None:
            if not rule.third_party and not STANDARD.match(name):
                yield f"{at(match.start(1))}: {folder} may use the standard library only, not <{name}>"
        elif not target.startswith(rule.uses):
            yield f"{at(match.start(1))}: {folder} may not include {target}"
        elif target.startswith(PUBLIC) and bracket == '"':
            yield f"{at(match.start(1))}: public headers are included as <{name}>"

    if not rule.vendor_names:
        for match in VENDOR_NAME.finditer(text):
            yield f"{at(match.start())}: {match.group()!r} belongs under devices/"


def main() -> int:
    root = Path(sys.argv[1]).resolve()
    found = []
    checked = set()
    # Longer names first: devices/null is under its own rule, not that of devices.
    for folder in sorted(FOLDERS, key=len, reverse=True):
        for source in sorted((root / folder).rglob("*")):
            if source.suffix in SOURCES and source not in checked:
                checked.add(source)
                found.extend(violations(root, source, folder, FOLDERS[folder]))
    for line in found:
        print(line)
    print(f"{len(checked)} files, {len(found)} violations")
    return 1 if found or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
