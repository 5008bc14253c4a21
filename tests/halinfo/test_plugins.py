# SPDX-License-Identifier: Apache-2.0
"""Plug-ins that misbehave. PLUGINS names the folder with those built beside this file, NULL_PLUGIN one that works."""

import json
import os
import tempfile
import unittest

from harness import HalinfoTest
from schema import LIST, problems


def plugin(name):
    return os.path.join(os.environ["PLUGINS"], f"{name}.so")


class Plugins(HalinfoTest):
    def rows(self, *paths, status):
        """Rows of the plug-ins by path or name, and what stands on standard error."""
        done = self.run_halinfo("list", "--json", HAL_PLUGINS=":".join(paths))
        self.assertEqual(done.returncode, status, done.stderr)
        document = self.json_from(done.stdout)
        return {b["name"]: b for b in document["backends"] if b["plugin"]}, done.stderr, document

    def json_from(self, text):
        document = json.loads(text)
        self.assertEqual(problems(document, LIST), [])
        # Whatever the plug-ins do, the rest is there.
        self.assertIn("host:0", [d["id"] for d in document["devices"]])
        return document

    def refused(self, path):
        rows, errors, _ = self.rows(path, status=1)
        self.assertEqual(list(rows), [path])
        self.assertEqual(rows[path]["state"], "refused")
        return rows[path], errors

    def test_one_that_works_is_listed_with_its_devices(self):
        rows, errors, document = self.rows(os.environ["NULL_PLUGIN"], status=0)
        self.assertEqual(errors, "")
        self.assertEqual([r["state"] for r in rows.values()], ["loaded"])
        self.assertTrue(set(rows) & {d["backend"] for d in document["devices"]})

    def test_one_that_crashes_is_a_row_naming_the_signal(self):
        row, errors = self.refused(plugin("aborting"))
        self.assertEqual(row["reason"], "crashed")
        self.assertIn("SIGABRT", row["detail"])
        self.assert_one_sentence(errors)
        self.assertIn("SIGABRT", errors)

    def test_one_that_ends_the_process_is_a_row(self):
        row, errors = self.refused(plugin("exiting"))
        self.assertEqual(row["reason"], "crashed")
        self.assertIn("exit status 0", row["detail"])
        self.assert_one_sentence(errors)

    def test_one_that_hangs_is_ended_and_a_row(self):
        row, errors = self.refused(plugin("hanging"))
        self.assertEqual(row["reason"], "init_failed")
        self.assertIn("10 seconds", row["detail"])
        self.assert_one_sentence(errors)

    def test_one_that_prints_does_not_get_into_the_document(self):
        row, errors = self.refused(plugin("noisy"))
        self.assertIn("declines", row["detail"])
        self.assertIn("noise of a plug-in", errors)

    def test_its_words_cannot_act_on_the_terminal(self):
        done = self.run_halinfo(HAL_PLUGINS=plugin("noisy"))
        self.assertIn("declines", done.stdout)
        self.assertNotIn("\x1b", done.stdout)

    def test_a_text_file_is_not_a_plugin(self):
        with tempfile.NamedTemporaryFile("w", suffix=".so") as file:
            file.write("hello\n")
            file.flush()
            row, errors = self.refused(file.name)
            self.assertEqual(row["reason"], "not_a_plugin")
            self.assert_one_sentence(errors)
            self.assertIn(file.name, errors)

    def test_a_file_that_is_not_there_is_absent(self):
        path = "/nonexistent/libplugin.so"
        rows, errors, _ = self.rows(path, status=1)
        self.assertEqual(rows[path]["state"], "absent")
        self.assert_one_sentence(errors)

    def test_a_bad_one_does_not_hide_the_others(self):
        rows, _, document = self.rows(plugin("aborting"), os.environ["NULL_PLUGIN"], plugin("exiting"), status=1)
        self.assertEqual([r["state"] for r in rows.values()], ["refused", "loaded", "refused"])
        self.assertGreater(len(document["devices"]), 1)

    def test_two_of_one_name_are_told_apart_by_path(self):
        null = os.environ["NULL_PLUGIN"]
        rows, errors, _ = self.rows(null, null, status=1)
        self.assertEqual([r["state"] for r in rows.values()], ["loaded", "refused"])
        self.assertIn(null, rows)
        self.assert_one_sentence(errors)

    def test_a_device_of_one_can_be_chosen(self):
        rows, _, document = self.rows(os.environ["NULL_PLUGIN"], status=0)
        (name,) = rows
        chosen = self.json_of("--device", f"{name}:0", HAL_PLUGINS=os.environ["NULL_PLUGIN"])
        self.assertEqual([d["id"] for d in chosen["devices"]], [f"{name}:0"])
        self.assertEqual([b["name"] for b in chosen["backends"]], [name])

    def test_a_broken_one_stays_in_sight_when_a_device_is_chosen(self):
        done = self.run_halinfo("--device", "host:0", HAL_PLUGINS=plugin("aborting"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("aborting.so", done.stdout)

    def test_the_doctor_calls_a_broken_one_critical(self):
        document = self.json_of("doctor", status=1, HAL_PLUGINS=plugin("aborting"))
        findings = {f["id"]: f for f in document["findings"]}
        self.assertEqual(findings["plugin.aborting.so"]["severity"], "critical")
        self.assertIn("SIGABRT", findings["plugin.aborting.so"]["found"])

    def test_the_doctor_knows_a_default_device_of_a_plugin(self):
        rows, _, _ = self.rows(os.environ["NULL_PLUGIN"], status=0)
        (name,) = rows
        done = self.run_halinfo("doctor", "--json", HAL_PLUGINS=os.environ["NULL_PLUGIN"], HAL_DEVICE=f"{name}:0")
        findings = {f["id"]: f for f in json.loads(done.stdout)["findings"]}
        self.assertEqual(findings["device.default"]["severity"], "ok")
        self.assertIn(f"{name}:0", findings["device.default"]["found"])


if __name__ == "__main__":
    unittest.main()
