# SPDX-License-Identifier: Apache-2.0
"""Runs halinfo for the tests beside this file. HALINFO names the program."""

import json
import os
import subprocess
import unittest


def environment(**variables):
    """This process's environment without HAL's own variables, and with those given."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("HAL_") and k != "NO_COLOR"}
    return {**kept, **variables}


class HalinfoTest(unittest.TestCase):
    maxDiff = None

    def run_halinfo(self, *arguments, **variables):
        return subprocess.run(
            [os.environ["HALINFO"], *arguments],
            env=environment(**variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            timeout=50,
            check=False,
        )

    def json_of(self, *arguments, status=0, **variables):
        """The document, which is all there is on standard output."""
        done = self.run_halinfo(*arguments, "--json", **variables)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stdout)

    def assert_one_sentence(self, text):
        self.assertTrue(text.startswith("halinfo: "), text)
        self.assertEqual(text.count("\n"), 1, text)
        self.assertTrue(text.endswith("\n"), text)
