# SPDX-License-Identifier: Apache-2.0
"""Takes the C++ out of a document, so that it is compiled and run as it stands there.

    extract.py program README.md out.cpp   the one block, a whole program
    extract.py pieces docs/guide.md out.cpp   every block as the body of a function, and a main that calls them;
                                              blocks marked "cpp compile" are not called
"""

import pathlib
import re
import sys

PIECES_HEAD = """\
#include <hal/hal.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>
"""

PIECES_MAIN = """
int main() {{
  struct Piece {{
    int line;
    void (*run)(hal::Device, hal::Stream);
  }};
  constexpr Piece pieces[] = {{{rows}}};
  int failures = 0;
  for (const Piece& piece : pieces) {{
    try {{
      const hal::Device device = hal::default_device();
      piece.run(device, device.create_stream());
    }} catch (const std::exception& error) {{
      std::printf("the piece in line %d failed: %s\\n", piece.line, error.what());
      ++failures;
    }}
  }}
  return failures == 0 ? 0 : 1;
}}
"""


def blocks(text):
    """(line of the first line of code, words after "cpp", code) of each block."""
    for block in re.finditer(r"^```cpp *([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, block.start(2)) + 1, block[1].split(), block[2]


def source_line(document, line):
    return f'#line {line} "{document.resolve()}"\n'


def program(document):
    found = list(blocks(document.read_text(encoding="utf-8")))
    if len(found) != 1:
        sys.exit(f"{document}: expected one block of C++, found {len(found)}")
    line, _, code = found[0]
    return source_line(document, line) + code


def pieces(document):
    out = [PIECES_HEAD]
    called = []
    for line, words, code in blocks(document.read_text(encoding="utf-8")):
        out.append(
            f"\nvoid piece_{line}([[maybe_unused]] hal::Device device, [[maybe_unused]] hal::Stream stream);\n"
            f"void piece_{line}([[maybe_unused]] hal::Device device, [[maybe_unused]] hal::Stream stream) {{\n"
            f"{source_line(document, line)}{code}}}\n"
        )
        if "compile" not in words:
            called.append(f"{{{line}, piece_{line}}}")
    if not called:
        sys.exit(f"{document}: no block of C++ found")
    return "".join(out) + PIECES_MAIN.format(rows=", ".join(called))


def main():
    kind, document, output = sys.argv[1:]
    text = {"program": program, "pieces": pieces}[kind](pathlib.Path(document))
    pathlib.Path(output).write_text(text, encoding="utf-8")


main()
