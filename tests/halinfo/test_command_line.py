# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import unittest

from harness import HalinfoTest, environment

COMMANDS = (["list"], ["list", "--json"], ["doctor"], ["--config"], ["--help"], ["--version"])


class Usage(HalinfoTest):
    def test_help_names_what_there_is(self):
        done = self.run_halinfo("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in ("list", "doctor", "--json", "--device", "--config", "--version"):
            self.assertIn(word, done.stdout)

    def test_version_is_that_of_the_documents(self):
        done = self.run_halinfo("--version")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, f"halinfo {self.json_of()['hal_version']}\n")

    def test_usage_errors_are_one_sentence_and_status_2(self):
        for arguments in (
            ["lst"],
            ["list", "doctor"],
            ["--jsn"],
            ["--device"],
            ["--config", "list"],
            ["--config", "--device", "host:0"],
        ):
            with self.subTest(arguments):
                done = self.run_halinfo(*arguments)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stdout, "")
                self.assert_one_sentence(done.stderr)
                self.assertIn("--help", done.stderr)


class Output(HalinfoTest):
    """Output that cannot be written must not look like success."""

    def run_into(self, arguments, stdout):
        return subprocess.run(
            [os.environ["HALINFO"], *arguments],
            env=environment(),
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            timeout=50,
            check=False,
        )

    def assert_refused(self, done, word):
        self.assertEqual(done.returncode, 1)
        self.assert_one_sentence(done.stderr)
        self.assertIn(word, done.stderr)

    def test_a_full_disk_is_an_error(self):
        for arguments in COMMANDS:
            with self.subTest(arguments), open("/dev/full", "w", encoding="utf-8") as full:
                self.assert_refused(self.run_into(arguments, full), "No space left")

    def test_a_closed_pipe_is_an_error(self):
        for arguments in COMMANDS:
            with self.subTest(arguments):
                read_end, write_end = os.pipe()
                os.close(read_end)
                try:
                    self.assert_refused(self.run_into(arguments, write_end), "Broken pipe")
                finally:
                    os.close(write_end)

    def test_no_standard_output_is_an_error(self):
        done = subprocess.run(
            ["/bin/sh", "-c", 'exec "$0" list >&-', os.environ["HALINFO"]],
            env=environment(),
            stderr=subprocess.PIPE,
            text=True,
            timeout=50,
            check=False,
        )
        self.assert_refused(done, "Bad file descriptor")


if __name__ == "__main__":
    unittest.main()
