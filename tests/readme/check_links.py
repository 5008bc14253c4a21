# SPDX-License-Identifier: Apache-2.0
"""Checks that every relative link in the documents leads to a file: check_links.py ROOT"""

import pathlib
import re
import sys


def main():
    root = pathlib.Path(sys.argv[1])
    documents = [*root.glob("*.md"), *root.glob("docs/*.md")]
    if not documents:
        sys.exit(f"there are no documents in {root}")
    broken = []
    for document in documents:
        text = re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)#]+)", text):
            if "://" not in target and not (document.parent / target).exists():
                broken.append(f"{document.relative_to(root)} links to {target}, which does not exist")
    print("\n".join(broken))
    sys.exit(1 if broken else 0)


main()
