# SPDX-License-Identifier: Apache-2.0
import json
import unittest

from harness import HalinfoTest
from schema import DOCTOR, problems

STATUS_OF_EXIT = {0: {"healthy", "warnings"}, 1: {"critical"}, 2: {"unknown"}}


class Doctor(HalinfoTest):
    def document(self, *arguments, **variables):
        """The document, whatever the exit status; the two must agree."""
        done = self.run_halinfo("doctor", "--json", *arguments, **variables)
        document = json.loads(done.stdout)
        self.assertEqual(problems(document, DOCTOR), [])
        self.assertIn(document["status"], STATUS_OF_EXIT[done.returncode])
        return document

    def test_json_has_the_documented_keys_and_ids_are_not_repeated(self):
        document = self.document()
        self.assertEqual(document["schema_version"], 1)
        ids = [f["id"] for f in document["findings"]]
        self.assertGreater(len(ids), 3)
        self.assertEqual(len(ids), len(set(ids)))

    def test_status_is_that_of_the_worst_finding(self):
        document = self.document()
        severities = {f["severity"] for f in document["findings"]}
        if "critical" in severities:
            expected = "critical"
        elif "unknown" in severities:
            expected = "unknown"
        else:
            expected = "warnings" if "warning" in severities else "healthy"
        self.assertEqual(document["status"], expected)

    def test_a_variable_that_does_not_parse_is_critical(self):
        document = self.document(HAL_HOST_DEVICES="many")
        self.assertEqual(document["status"], "critical")
        told = [f for f in document["findings"] if f["severity"] == "critical" and "HAL_HOST_DEVICES" in f["found"]]
        self.assertNotEqual(told, [])

    def test_a_problem_comes_with_advice(self):
        for finding in self.document(HAL_HOST_DEVICES="many")["findings"]:
            if finding["severity"] in ("warning", "critical"):
                self.assertTrue(finding["advice"], finding)

    def test_a_chosen_device_leaves_out_other_backends(self):
        everything = {f["id"] for f in self.document()["findings"]}
        chosen = {f["id"] for f in self.document("--device", "host:0")["findings"]}
        self.assertLess(chosen, everything)
        self.assertFalse([i for i in chosen if "cuda" in i or "hip" in i or "ppu" in i])

    def test_text_names_every_finding_and_the_result(self):
        document = self.document()
        text = self.run_halinfo("doctor").stdout
        for finding in document["findings"]:
            self.assertIn(finding["id"], text)
        self.assertTrue(text.endswith(f"Result: {document['status']}\n"), text)


if __name__ == "__main__":
    unittest.main()
