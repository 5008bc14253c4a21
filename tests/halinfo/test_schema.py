# SPDX-License-Identifier: Apache-2.0
"""The check of documents itself: it must find what is wrong with them."""

import unittest

from schema import Unknown, problems

SCHEMA = {"rows": [{"name": str, "size_bytes": Unknown(int), "state": {"on", "off"}}]}
RIGHT = {"name": "a", "size_bytes": 3, "state": "on"}


class Schema(unittest.TestCase):
    def check(self, **changes):
        return problems({"rows": [{**RIGHT, **changes}]}, SCHEMA)

    def test_a_right_document_has_no_problem(self):
        self.assertEqual(self.check(), [])
        self.assertEqual(self.check(size_bytes=None, size_bytes_reason="not told"), [])

    def test_every_kind_of_mistake_is_found(self):
        for changes in (
            {"name": 1},
            {"size_bytes": "3"},
            {"size_bytes": True},
            {"size_bytes": None},
            {"size_bytes": None, "size_bytes_reason": ""},
            {"size_bytes_reason": "though it is known"},
            {"state": "maybe"},
            {"more": 1},
        ):
            with self.subTest(changes):
                self.assertNotEqual(self.check(**changes), [])
        self.assertNotEqual(problems({}, SCHEMA), [])
        self.assertNotEqual(problems({"rows": {}}, SCHEMA), [])
        self.assertNotEqual(problems([], SCHEMA), [])


if __name__ == "__main__":
    unittest.main()
