"""Finds diagnostics of the C++ sources that no test expects.

A message is a string literal handed to emitError, emitOpError, fail and their
like; a test expects it where it holds the literal's longest plain piece. Not
every one can be provoked (a full disk, a driver of another age): those are in
test/Project/Inputs/untested-messages.txt, under the reason.

messages.py          lists what no test expects
messages.py --check  fails where that is not what the file holds
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CALL = re.compile(
    r"\b(?:emitError|emitOpError|emitWarning|createStringError|fail|refuse|"
    r"report|(?<!: )problem)\s*\(")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
PUNCTUATION = " :;,.'()"
EXCEPTIONS = "test/Project/Inputs/untested-messages.txt"


def statements(text):
    """(line, the statement) of each call that reports something."""
    for call in CALL.finditer(text):
        depth, at, quoted = 0, call.end() - 1, False
        while at < len(text):
            c = text[at]
            if quoted:
                at += c == "\\"
                quoted = c != '"' or text[at - 1] == "\\" and c == "\\"
            elif c == '"':
                quoted = True
            elif c in "([{":
                depth += 1
            elif c in ")]}":
                depth -= 1
                if depth < 0:
                    break
            elif c == ";" and depth == 0:
                break
            at += 1
        yield text.count("\n", 0, call.start()) + 1, text[call.start():at]


def pieces(statement):
    """The literals, adjacent ones joined as the compiler does."""
    joined = re.sub(r'(?<!\\)"\s*\n?\s*"', "", statement)
    for literal in LITERAL.findall(joined):
        text = literal.replace('\\"', '"').replace("\\n", "\n")
        yield max(re.split(r"\{\d\}|\n", text), key=len).strip(PUNCTUATION)


def untested():
    """How many messages there are, and of each that no test expects where it
    stands and its longest piece."""
    listed = ROOT / EXCEPTIONS
    expected = "\n".join(
        path.read_text(encoding="utf-8", errors="replace")
        for path in sorted((ROOT / "test").rglob("*")) if path.is_file()
        and path != listed
        and path.suffix in (".mlir", ".test", ".py", ".cpp"))
    expected = re.sub(r'"\s*\n\s*"', "", expected)
    total, missing = 0, []
    for path in sorted((ROOT / "lib").rglob("*.cpp")):
        seen = set()
        for line, statement in statements(path.read_text()):
            found = [piece for piece in pieces(statement) if len(piece) > 3]
            if not found or (line, found[0]) in seen:
                continue
            seen.add((line, found[0]))
            total += 1
            longest = max(found, key=len)
            if longest not in expected:
                missing.append((f"{path.relative_to(ROOT)}:{line}", longest))
    return total, missing


def exceptions():
    """The pieces of messages that cannot be provoked; lines with '#' say why."""
    lines = (ROOT / EXCEPTIONS).read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def main():
    total, missing = untested()
    if sys.argv[1:] != ["--check"]:
        for where, piece in missing:
            print(f"{where}: {piece}")
        print(f"{total} messages, {len(missing)} that no test expects")
        return 0
    known = exceptions()
    problems = [f"{where}: no test expects '{piece}'"
                for where, piece in missing if piece not in known]
    problems += [f"{EXCEPTIONS}: '{piece}' is expected by a test, or gone"
                 for piece in sorted(known - {piece for _, piece in missing})]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
