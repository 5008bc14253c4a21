# SPDX-License-Identifier: Apache-2.0
"""Tests of what turns the programs' output into figures and tables."""

import tempfile
import unittest
from pathlib import Path

import figures
import measure
import report


def micro_entry(name: str, nanoseconds: float) -> dict:
    return {
        "name": f"{name}/iterations:1/manual_time",
        "run_type": "iteration",
        "real_time": nanoseconds,
        "family_index": 0,
    }


def a_figure(**changes) -> dict:
    side = {"median": 0.02, "low": 0.01, "high": 0.03}
    ratio = {"median": 1.01, "low": 0.9, "high": 1.2, "interval": [1.0, 1.02]}
    return {
        "id": "x",
        "title": "a thing",
        "ours": {"name": "HAL", **side},
        "peers": [{"name": "oneTBB", **side, "ratio": ratio}],
        "target": {"quantity": "ratio", "at_most": 1.03},
        "met": True,
        **changes,
    }


class Measuring(unittest.TestCase):
    def test_takes_the_median_of_the_repetitions_and_leaves_aggregates_out(self):
        entries = [micro_entry("f/hal", t) for t in (30, 10, 20)] + [micro_entry("f/peer", 40)]
        entries.append({"name": "f/hal_mean", "run_type": "aggregate", "family_index": 0})
        found = measure.micro_figures({"benchmarks": entries})["f"]
        self.assertAlmostEqual(found["ours"]["median"], 20e-9)
        self.assertAlmostEqual(found["peers"][0]["ratio"]["median"], 0.5)

    def test_comparisons_of_one_id_are_one_figure_judged_by_the_first_peer(self):
        side = {"median": 2.0, "low": 1.0, "high": 3.0}
        entry = {"id": "x", "ours": "HAL", "ours_seconds": side, "peer_seconds": side, "rounds": 3}
        entries = [
            {**entry, "peer": peer, "ratio": {**side, "median": ratio}, "ratio_interval": side}
            for peer, ratio in (("best", 1.5), ("other", 0.5))
        ]
        found = measure.paired_figures({"comparisons": entries})["x"]
        self.assertEqual([peer["name"] for peer in found["peers"]], ["best", "other"])
        self.assertIs(measure.judge(figures.Figure("x", "", "ratio", 1.0), found)["met"], False)

    def test_judges_the_time_or_the_ratio(self):
        by_time = figures.Figure("x", "", "ours", 0.019)
        by_ratio = figures.Figure("x", "", "ratio", 1.02)
        without = figures.Figure("x", "", "ratio")
        self.assertIs(measure.judge(by_time, a_figure())["met"], False)
        self.assertIs(measure.judge(by_ratio, a_figure())["met"], True)
        self.assertIsNone(measure.judge(without, a_figure())["met"])

    def test_every_figure_has_its_own_id(self):
        ids = [figure.id for group in figures.GROUPS for figure in group.figures]
        self.assertEqual(len(ids), len(set(ids)))


class Reporting(unittest.TestCase):
    def test_durations_have_three_digits_and_a_unit(self):
        expected = {36e-9: "36.0 ns", 100e-9: "100 ns", 999.9e-9: "1.00 us", 0.123: "123 ms", 2.5: "2.50 s"}
        for seconds, shown in expected.items():
            self.assertEqual(report.duration(seconds), shown)

    def test_a_row_says_the_target_and_whether_it_was_met(self):
        row = report.rows(a_figure(met=False))[0]
        self.assertIn("ratio <= 1.030", row)
        self.assertEqual(row[-1], "no")

    def test_rewriting_changes_only_what_is_between_the_markers(self):
        document = {"groups": [{"id": "g", "title": "G", "figures": [a_figure()]}]}
        kept = report.conditions
        report.conditions = lambda _: "- CPU: x"
        try:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "p.md"
                path.write_text(
                    "before\n<!-- begin conditions -->\n<!-- end conditions -->\n"
                    "<!-- begin g -->\nold\n<!-- end g -->\nafter\n",
                    encoding="utf-8",
                )
                report.rewrite(path, document)
                content = path.read_text(encoding="utf-8")
                self.assertTrue(content.startswith("before\n") and content.endswith("\nafter\n"))
                self.assertNotIn("old", content)
                self.assertIn("| a thing | ratio <= 1.030 |", content)
                path.write_text("no markers\n", encoding="utf-8")
                with self.assertRaises(SystemExit):
                    report.rewrite(path, document)
        finally:
            report.conditions = kept


if __name__ == "__main__":
    unittest.main()
