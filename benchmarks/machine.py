# SPDX-License-Identifier: Apache-2.0
"""What a measurement was taken on and with."""

import datetime
import os
import platform
import subprocess
from pathlib import Path


def first_line(path: str) -> str:
    """The first line of a file, or nothing where there is no such file."""
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()[0].strip()
    except (OSError, IndexError):
        return ""


def field(path: str, name: str) -> str:
    """The value of the first `name : value` line of a file of /proc."""
    try:
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == name:
                return value.strip()
    except OSError:
        pass
    return ""


def caches() -> list[str]:
    found = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (first_line(str(index / name)) for name in ("level", "type", "size"))
        found.append(f"L{level} {kind.lower()} {size}")
    return found


def cpu_ticks() -> tuple[int, int]:
    """Ticks the hypervisor gave to others while this machine had work, and all ticks."""
    ticks = [int(value) for value in first_line("/proc/stat").split()[1:9]]
    return (ticks[7], sum(ticks)) if len(ticks) == 8 else (0, 0)


def describe() -> dict:
    quota = first_line("/sys/fs/cgroup/cpu.max")
    memory = field("/proc/meminfo", "MemTotal").split()
    return {
        "cpu": field("/proc/cpuinfo", "model name") or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "quota": quota if quota and not quota.startswith("max") else "",
        "virtual": "hypervisor" in field("/proc/cpuinfo", "flags").split(),
        "caches": caches(),
        "memory_bytes": int(memory[0]) * 1024 if memory else None,
        "huge_pages": first_line("/sys/kernel/mm/transparent_hugepage/enabled"),
        "kernel": platform.release(),
    }


def compiler(build: Path) -> dict:
    """From the cache of the build tree, so that it is what was really used."""
    cache = {}
    for line in (build / "CMakeCache.txt").read_text(encoding="utf-8").splitlines():
        name, separator, value = line.partition("=")
        if separator and not line.startswith(("#", "//")):
            cache[name.partition(":")[0]] = value
    build_type = cache.get("CMAKE_BUILD_TYPE", "")
    flags = f"{cache.get('CMAKE_CXX_FLAGS', '')} {cache.get('CMAKE_CXX_FLAGS_' + build_type.upper(), '')}"
    version = subprocess.run(
        [cache["CMAKE_CXX_COMPILER"], "--version"], capture_output=True, text=True, check=True
    )
    return {
        "compiler": version.stdout.splitlines()[0],
        "build_type": build_type,
        "flags": " ".join(flags.split()),
    }


def commit(root: Path) -> str:
    def git(*arguments: str) -> str:
        result = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
        return result.stdout.strip() if result.returncode == 0 else ""

    name = git("rev-parse", "--short=12", "HEAD")
    return f"{name}, changed" if name and git("status", "--porcelain") else name


def now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
