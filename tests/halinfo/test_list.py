# SPDX-License-Identifier: Apache-2.0
import os
import pty
import subprocess
import unittest

from harness import HalinfoTest, environment
from schema import LIST, problems

ESCAPE = "\x1b["


class List(HalinfoTest):
    def test_json_has_the_documented_keys(self):
        document = self.json_of("list")
        self.assertEqual(problems(document, LIST), [])
        self.assertEqual(document["schema_version"], 1)

    def test_list_is_the_default(self):
        documents = [self.json_of(), self.json_of("list")]
        for document in documents:
            for device in document["devices"]:
                del device["memory_free_bytes"]  # changes from one call to the next
        self.assertEqual(*documents)

    def test_every_backend_has_a_row_with_a_state_and_a_reason(self):
        backends = {b["name"]: b for b in self.json_of()["backends"]}
        self.assertLessEqual({"cuda", "hip", "ppu", "host"}, backends.keys())
        self.assertEqual(backends["host"]["state"], "loaded")
        for backend in backends.values():
            with self.subTest(backend["name"]):
                loaded = backend["state"] == "loaded"
                self.assertEqual(backend["reason"] == "none", loaded)
                self.assertEqual(bool(backend["advice"]), not loaded)
                self.assertFalse(backend["plugin"])

    def test_every_device_belongs_to_a_loaded_backend(self):
        document = self.json_of(HAL_HOST_DEVICES="2")
        loaded = {b["name"] for b in document["backends"] if b["state"] == "loaded"}
        ids = [d["id"] for d in document["devices"]]
        self.assertLessEqual({"host:0", "host:1"}, set(ids))
        self.assertEqual(len(ids), len(set(ids)))
        for device in document["devices"]:
            self.assertIn(device["backend"], loaded)
            self.assertTrue(device["id"].startswith(device["backend"] + ":"))

    def test_the_host_tells_its_free_memory(self):
        for device in self.json_of()["devices"]:
            self.assertGreater(device["memory_free_bytes"], 0)
            self.assertLessEqual(device["memory_free_bytes"], device["memory_total_bytes"])

    def test_text_shows_what_json_says_within_100_columns(self):
        document = self.json_of()
        text = self.run_halinfo().stdout
        for backend in document["backends"]:
            self.assertIn(backend["name"], text)
            self.assertIn(backend["state"], text)
        for device in document["devices"]:
            self.assertIn(device["id"], text)
            self.assertIn(device["name"], text)
        self.assertIn("GiB", text)
        for line in text.splitlines():
            self.assertLessEqual(len(line), 100, line)
            self.assertEqual(line, line.rstrip())
        self.assertNotIn(ESCAPE, text)

    def on_terminal(self, **variables):
        """What halinfo writes to a terminal."""
        ours, its = pty.openpty()
        child = subprocess.Popen(
            [os.environ["HALINFO"]], env=environment(TERM="xterm", **variables), stdin=its, stdout=its, stderr=its
        )
        os.close(its)
        text = b""
        try:
            while part := os.read(ours, 4096):
                text += part
        except OSError:
            pass  # the terminal's end, on Linux
        os.close(ours)
        self.assertEqual(child.wait(timeout=50), 0)
        return text.decode()

    def test_colours_are_for_terminals_that_want_them(self):
        self.assertIn(ESCAPE, self.on_terminal())
        self.assertNotIn(ESCAPE, self.on_terminal(NO_COLOR="1"))


class Devices(HalinfoTest):
    def test_chosen_devices_are_the_only_ones(self):
        document = self.json_of("--device", "host:1", HAL_HOST_DEVICES="3")
        self.assertEqual([d["id"] for d in document["devices"]], ["host:1"])
        self.assertEqual([b["name"] for b in document["backends"]], ["host"])

    def test_a_choice_can_be_repeated(self):
        chosen = ["--device", "host:2", "--device", "host:0", "--device", "host:2"]
        document = self.json_of("list", *chosen, HAL_HOST_DEVICES="3")
        self.assertEqual([d["id"] for d in document["devices"]], ["host:0", "host:2"])

    def test_a_backend_alone_means_its_first_device(self):
        document = self.json_of("--device", "host", HAL_HOST_DEVICES="2")
        self.assertEqual([d["id"] for d in document["devices"]], ["host:0"])

    def test_an_unknown_device_is_one_sentence_that_lists_those_there_are(self):
        for unknown in ("host:7", "nothing:0", "", "host:x"):
            for command in ("list", "doctor"):
                with self.subTest(id=unknown, command=command):
                    done = self.run_halinfo(command, "--device", unknown, HAL_HOST_DEVICES="2")
                    self.assertEqual(done.returncode, 1)
                    self.assertEqual(done.stdout, "")
                    self.assert_one_sentence(done.stderr)
                    self.assertIn(f'"{unknown}"', done.stderr)
                    self.assertIn("host:0, host:1", done.stderr)

    def test_an_unavailable_backend_is_named_with_its_reason(self):
        backends = [b for b in self.json_of()["backends"] if b["state"] != "loaded"]
        for backend in backends:
            done = self.run_halinfo("--device", backend["name"] + ":0")
            self.assertEqual(done.returncode, 1)
            self.assertIn(backend["reason"], done.stderr)


class BadVariables(HalinfoTest):
    def test_a_value_that_does_not_parse_is_one_sentence_naming_it(self):
        done = self.run_halinfo("list", HAL_HOST_DEVICES="many")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assert_one_sentence(done.stderr)
        self.assertIn("HAL_HOST_DEVICES", done.stderr)
        self.assertIn("many", done.stderr)


if __name__ == "__main__":
    unittest.main()
