# SPDX-License-Identifier: Apache-2.0
import os
import unittest

from harness import HalinfoTest
from schema import CONFIG, problems


class Config(HalinfoTest):
    def variables(self, status=0, **environment):
        document = self.json_of("--config", status=status, **environment)
        self.assertEqual(problems(document, CONFIG), [])
        return {v["name"]: v for v in document["variables"]}

    def test_every_variable_says_what_it_is(self):
        variables = self.variables()
        self.assertLessEqual({"HAL_DEVICE", "HAL_PLUGINS", "HAL_TRACE", "HAL_HOST_DEVICES"}, variables.keys())
        for variable in variables.values():
            with self.subTest(variable["name"]):
                self.assertEqual(variable["origin"], "built_in")
                self.assertEqual(variable["value"], variable["default"])
                self.assertTrue(variable["accepts"])
                self.assertTrue(variable["description"])

    def test_a_value_from_the_environment_says_so(self):
        variable = self.variables(HAL_HOST_DEVICES="3")["HAL_HOST_DEVICES"]
        self.assertEqual((variable["value"], variable["origin"]), ("3", "environment"))

    def test_plugins_are_shown_and_not_loaded(self):
        variable = self.variables(HAL_PLUGINS="/nonexistent.so")["HAL_PLUGINS"]
        self.assertEqual(variable["value"], "/nonexistent.so")

    def test_a_value_that_does_not_parse_is_marked_told_and_an_error(self):
        for arguments in (["--config"], ["--config", "--json"]):
            done = self.run_halinfo(*arguments, HAL_HOST_DEVICES="many")
            self.assertEqual(done.returncode, 1)
            self.assert_one_sentence(done.stderr)
            self.assertIn("HAL_HOST_DEVICES", done.stderr)
        self.assertIn("PROBLEM", self.run_halinfo("--config", HAL_HOST_DEVICES="many").stdout)
        variable = self.variables(status=1, HAL_HOST_DEVICES="many")["HAL_HOST_DEVICES"]
        self.assertFalse(variable["valid"])
        self.assertEqual(variable["value"], "many")

    def test_a_misspelt_variable_is_named(self):
        document = self.json_of("--config", HAL_DEVCE="host:0")
        self.assertEqual(document["unknown_variables"], ["HAL_DEVCE"])
        self.assertIn("HAL_DEVCE", self.run_halinfo("--config", HAL_DEVCE="host:0").stdout)

    def test_the_guide_lists_every_variable_with_its_default(self):
        with open(os.environ["GUIDE"], encoding="utf-8") as file:
            rows = [[cell.strip(" `") for cell in line.split("|")] for line in file if line.startswith("| `HAL_")]
        listed = {row[1]: row[2] for row in rows}
        self.assertEqual(listed, {name: v["default"] for name, v in self.variables().items()})

    def test_text_shows_every_variable_within_100_columns(self):
        text = self.run_halinfo("--config").stdout
        for name in self.variables():
            self.assertIn(name, text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)


if __name__ == "__main__":
    unittest.main()
