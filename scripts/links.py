"""Checks what the documents refer to: every link of a Markdown file leads to a file
and a heading that exist, every page of docs/ is linked from another one, and every
page that a source file names exists; and that every page of a decision has its four
parts. Prints what does not."""

import os
import re
import sys

from lint import ROOT, files, text_of

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PAGE = re.compile(r"\bdocs/[\w/-]+\.md\b")
# Each begins a paragraph of a page in docs/rationale, as in "**Choice, forward.**".
PARTS = ("Problem", "Choice", "Evidence", "Alternative")
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


def anchors(text):
    """Of the headings, as GitHub makes them."""
    found = set()
    for heading in re.findall(r"^#+ +(.*)$", FENCE.sub("", text), re.MULTILINE):
        words = re.sub(r"[^\w\- ]", "", LINK.sub("", heading)).strip().lower()
        found.add(words.replace(" ", "-"))
    return found


def check_page(name, linked):
    """Problems of a Markdown file; adds what it links to."""
    for target in LINK.findall(FENCE.sub("", text_of(name))):
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        where = os.path.normpath(os.path.join(os.path.dirname(name), path)
                                 ) if path else name
        if not os.path.exists(os.path.join(ROOT, where)):
            yield f"{name}: {target}: no such file"
            continue
        if where != name:
            linked.add(where)
        if anchor and where.endswith(".md") and anchor not in anchors(text_of(where)):
            yield f"{name}: {target}: no such heading"


def missing_parts(name):
    """Of a decision: problem, choice, evidence, alternative."""
    text = text_of(name)
    return [part for part in PARTS
            if not re.search(rf"^\*\*{part}s?\b", text, re.MULTILINE)]


def main():
    linked, problems = set(), []
    pages = files(".md")
    for name in pages:
        problems += check_page(name, linked)
    for name in pages:
        folder = os.path.dirname(name)
        if name.startswith("docs/") and not {name, folder} & linked:
            problems.append(f"{name}: no page links to it")
        if folder == "docs/rationale" and os.path.basename(name) != "README.md":
            problems += [f"{name}: no paragraph begins with **{part}"
                         for part in missing_parts(name)]
    for name in files(".h", ".cpp", ".td", ".py", ".test", ".mlir", ".sh"):
        problems += [f"{name}: names {page}, which does not exist"
                     for page in PAGE.findall(text_of(name)) if page not in pages]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
