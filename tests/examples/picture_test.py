# SPDX-License-Identifier: Apache-2.0
"""Runs the example `picture` on pictures of every kind and on everything that is none.

usage: picture_test.py PICTURE_PROGRAM PHOTO
"""

import os
import pathlib
import stat
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

PROGRAM, PHOTO = map(os.path.abspath, sys.argv[1:3])

GREY, RGB, PALETTE, GREY_ALPHA, RGB_ALPHA = 0, 2, 3, 4, 6
SAMPLES = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGB_ALPHA: 4}
KINDS = [(GREY, depth) for depth in (1, 2, 4, 8, 16)] + [(PALETTE, depth) for depth in (1, 2, 4, 8)]
KINDS += [(kind, depth) for kind in (RGB, GREY_ALPHA, RGB_ALPHA) for depth in (8, 16)]


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width, height, kind=RGB, depth=8):
    """A picture that is dark on the left half and light on the right."""
    rows = b""
    for _ in range(height):
        bits = ""
        for x in range(width):
            light = x >= width // 2
            sample = ("1" if light else "0") * depth
            if kind == PALETTE:
                sample = format(int(light), f"0{depth}b")
            colours = sample * (SAMPLES[kind] - (kind in (GREY_ALPHA, RGB_ALPHA)))
            bits += colours + ("1" * depth if kind in (GREY_ALPHA, RGB_ALPHA) else "")
        bits += "0" * (-len(bits) % 8)
        rows += b"\0" + int(bits, 2).to_bytes(len(bits) // 8, "big")
    palette = chunk(b"PLTE", bytes([0, 0, 0, 255, 255, 255])) if kind == PALETTE else b""
    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + palette
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def read_grey_png(path):
    """The rows of an 8-bit grey PNG."""
    data = pathlib.Path(path).read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n"), "not a PNG"
    at, packed = 8, b""
    while at < len(data):
        (length,) = struct.unpack(">I", data[at:at + 4])
        name, body = data[at + 4:at + 8], data[at + 8:at + 8 + length]
        if name == b"IHDR":
            width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            assert (depth, kind, interlaced) == (8, GREY, 0), "not 8-bit grey"
        elif name == b"IDAT":
            packed += body
        at += 12 + length
    raw, rows, before = zlib.decompress(packed), [], bytes(width)
    for y in range(height):
        kind, line = raw[y * (width + 1)], bytearray(raw[y * (width + 1) + 1:(y + 1) * (width + 1)])
        for x in range(width):
            left = line[x - 1] if x else 0
            up, corner = before[x], before[x - 1] if x else 0
            estimate = left + up - corner
            nearest = min((left, up, corner), key=lambda value: abs(estimate - value))
            line[x] = (line[x] + (0, left, up, (left + up) // 2, nearest)[kind]) % 256
        rows.append(before := bytes(line))
    return rows


class PictureTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.output = self.folder / "out" / "edges.png"
        self.output.parent.mkdir()

    def file(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def run_picture(self, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder)

    def succeed(self, picture, *options):
        done = self.run_picture(picture, "-o", self.output, *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"\d+ x \d+ pixels, [\d.]+ ms on \S+ \([\d.]+ GB/s\), written to ")
        self.assertEqual(os.listdir(self.output.parent), [self.output.name])
        return read_grey_png(self.output)

    def refuse(self, status, text, *arguments):
        done = self.run_picture(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("picture: "), done.stderr)
        self.assertIn(text, done.stderr)
        self.assertEqual(os.listdir(self.output.parent), [])

    def test_every_kind_of_png_shows_the_one_edge(self):
        for kind, depth in KINDS:
            with self.subTest(kind=kind, depth=depth):
                rows = self.succeed(self.file("in.png", png(40, 11, kind, depth)))
                self.assertEqual((len(rows), len(rows[0])), (11, 40))
                for row in rows:
                    self.assertEqual((row[0], row[-1]), (0, 0))
                    self.assertEqual(row[19], 255)

    def test_transparent_parts_are_white(self):
        rows = b"".join(b"\0" + bytes([0, 0, 0, 0]) * 10 + bytes([255] * 4) * 10 for _ in range(8))
        data = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 20, 8, 8, RGB_ALPHA, 0, 0, 0))
                + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
        self.assertEqual(set(b"".join(self.succeed(self.file("in.png", data)))), {0})

    def test_a_jpeg_is_one_by_content(self):
        photo = pathlib.Path(PHOTO).read_bytes()
        rows = self.succeed(self.file("photo.png", photo), "--streams", 3, "--tile", 17)
        self.assertEqual((len(rows), len(rows[0])), (427, 640))
        self.assertGreater(len(set(b"".join(rows))), 100)
        self.assertEqual(rows, self.succeed(PHOTO, "--device", "host:0"))

    def test_an_output_that_exists_is_replaced(self):
        self.output.write_bytes(b"old")
        self.succeed(self.file("in.png", png(8, 8)))
        self.assertEqual(stat.S_IMODE(self.output.stat().st_mode) & 0o600, 0o600)

    def test_no_picture_or_wrong_options_are_usage_errors(self):
        self.refuse(2, "no picture was given")
        self.refuse(2, "no option --blur", PHOTO, "--blur")
        self.refuse(2, "needs a value", PHOTO, "-o")
        self.refuse(2, "is a second", PHOTO, PHOTO)
        for text in ("0", "-1", "65", "two", "", "3x", "99999999999999999999999"):
            self.refuse(2, "a whole number from 1 to 64", PHOTO, "--streams", text)
        self.refuse(2, "a whole number from 1 to", PHOTO, "--tile", "0")

    def test_help_is_no_error(self):
        done = self.run_picture("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("usage: picture", done.stdout)

    def test_what_cannot_be_read_is_named(self):
        for status, text, path in ((1, "no such file", self.folder / "absent.png"), (1, "is a folder", self.folder)):
            self.refuse(status, text, path, "-o", self.output)

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_a_file_without_permission_is_named(self):
        path = self.file("secret.png", png(4, 4))
        path.chmod(0)
        self.refuse(1, "permissions", path, "-o", self.output)

    def test_what_is_no_picture_is_called_what_it_is(self):
        for data, text in ((b"", "is empty"), (b"hello, world\n", "is a text"), (b"GIF89a....", "a GIF picture"),
                           (b"%PDF-1.7\n", "a PDF document"), (bytes(range(100)), "unknown kind")):
            self.refuse(1, text, self.file("in.png", data), "-o", self.output)

    def test_a_truncated_or_damaged_picture_is_refused_wherever_it_ends(self):
        whole = png(30, 30)
        photo = pathlib.Path(PHOTO).read_bytes()
        for data, kind, keep in ((whole, "PNG", (8, 20, 33, 40, len(whole) - 20)),
                                 (photo, "JPEG", (3, 20, 400, len(photo) // 2, len(photo) - 500))):
            for count in keep:
                with self.subTest(kind=kind, count=count):
                    self.refuse(1, f"damaged or truncated {kind}", self.file("in", data[:count]), "-o", self.output)
        broken = bytearray(whole)
        broken[45] ^= 0xFF
        self.refuse(1, "damaged or truncated PNG", self.file("in", bytes(broken)), "-o", self.output)

    def test_a_picture_that_claims_to_be_huge_is_refused(self):
        data = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 999999, 999999, 8, RGB, 0, 0, 0))
                + chunk(b"IDAT", zlib.compress(b"\0" * 10)) + chunk(b"IEND", b""))
        self.refuse(1, "999999 x 999999 pixels", self.file("in.png", data), "-o", self.output)

    def test_an_output_that_cannot_be_written_leaves_nothing(self):
        self.refuse(1, "no folder", PHOTO, "-o", self.folder / "none" / "out.png")
        self.refuse(1, "is a folder", PHOTO, "-o", self.folder)
        self.refuse(1, "No space left on device", PHOTO, "-o", "/dev/full")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))

    def test_an_unknown_device_is_refused(self):
        self.refuse(1, "host:99", PHOTO, "-o", self.output, "--device", "host:99")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
