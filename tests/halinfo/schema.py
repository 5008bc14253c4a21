# SPDX-License-Identifier: Apache-2.0
"""The documents of `halinfo --json`, and a check of them that needs the standard library only.

A schema is a type, a set of words, a list with one schema for all items, or a dictionary with a schema for each key.
`Unknown(schema)` also allows null, which then needs a sentence or word in `<key>_reason`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Unknown:
    schema: object


STATES = {"loaded", "absent", "refused"}
REASONS = {
    "none", "library_absent", "dependency_missing", "library_stub", "abi_mismatch", "symbol_missing", "no_device",
    "no_device_node", "permission", "driver_too_old", "user_kernel_mismatch", "arch_unsupported", "filtered_by_env",
    "device_lost", "init_failed", "crashed", "not_a_plugin", "not_driven",
}  # fmt: skip
FEATURES = {
    "host_code", "host_memory", "host_function", "timing", "priorities", "pinned", "managed", "peer", "huge_pages",
}  # fmt: skip
TYPES = {
    "f64", "f32", "f16", "bf16", "fp8", "i8", "i16", "i32", "i64", "bf16_matrix", "i8_matrix", "f16_matrix",
}  # fmt: skip

HEAD = {"schema_version": int, "hal_version": str}

LIST = {
    **HEAD,
    "backends": [
        {
            "name": str,
            "description": str,
            "state": STATES,
            "reason": REASONS,
            "detail": str,
            "advice": str,
            "library": Unknown(str),
            "version": Unknown(str),
            "vendor_code": Unknown(int),
            "plugin": bool,
        }
    ],
    "devices": [
        {
            "id": str,
            "backend": str,
            "name": Unknown(str),
            "architecture": Unknown(str),
            "pci_address": Unknown(str),
            "numa_node": Unknown(int),
            "driver_version": Unknown(str),
            "memory_total_bytes": Unknown(int),
            "memory_free_bytes": Unknown(int),
            "compute_units": Unknown(int),
            "clock_max_khz": Unknown(int),
            "subgroup_width": Unknown(int),
            "cache_bytes": Unknown(int),
            "memory_alignment_bytes": Unknown(int),
            "max_threads_per_block": Unknown(int),
            "max_block": Unknown([int]),
            "max_grid": Unknown([int]),
            "shared_memory_per_block_bytes": Unknown(int),
            "registers_per_block": Unknown(int),
            "features": [FEATURES],
            "types": [TYPES],
        }
    ],
}

DOCTOR = {
    **HEAD,
    "status": {"healthy", "warnings", "critical", "unknown"},
    "findings": [
        {"id": str, "severity": {"ok", "info", "warning", "critical", "unknown"}, "found": str, "advice": str}
    ],
}

CONFIG = {
    **HEAD,
    "variables": [
        {
            "name": str,
            "type": {"boolean", "integer", "bytes", "word", "text", "path", "path_list", "count_or_word"},
            "value": str,
            "default": str,
            "origin": {"built_in", "environment", "program"},
            "valid": bool,
            "problem": str,
            "accepts": str,
            "description": str,
        }
    ],
    "unknown_variables": [str],
}


def problems(value, schema, where="document"):
    """What is wrong with `value`, as a list of sentences; empty when nothing is."""
    if isinstance(schema, dict):
        return _object_problems(value, schema, where)
    if isinstance(schema, list):
        if not isinstance(value, list):
            return [f"{where} is no list: {value!r}"]
        return [p for i, item in enumerate(value) for p in problems(item, schema[0], f"{where}[{i}]")]
    if isinstance(schema, set):
        return [] if value in schema else [f"{where} is none of {sorted(schema)}: {value!r}"]
    return [] if type(value) is schema else [f"{where} is no {schema.__name__}: {value!r}"]


def _object_problems(value, schema, where):
    if not isinstance(value, dict):
        return [f"{where} is no object: {value!r}"]
    found = []
    expected = set()
    for key, kind in schema.items():
        place = f"{where}.{key}"
        expected.add(key)
        if key not in value:
            found.append(f"{place} is missing")
        elif isinstance(kind, Unknown) and value[key] is None:
            expected.add(f"{key}_reason")
            if not value.get(f"{key}_reason"):
                found.append(f"{place} is null without a reason")
        else:
            found += problems(value[key], kind.schema if isinstance(kind, Unknown) else kind, place)
    return found + [f"{where}.{key} is not expected" for key in sorted(value.keys() - expected)]
