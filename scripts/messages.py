"""Lists diagnostics of the C++ sources that no test expects: `messages.py`.

A message is a string literal handed to emitError, emitOpError, fail and their
like; a test expects it where it holds the literal's longest plain piece. Not
every one can be provoked (a full disk, a driver of another age), so this is a
list to read, not a test."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
CALL = re.compile(
    r"\b(?:emitError|emitOpError|emitWarning|createStringError|fail|refuse|"
    r"report|problem)\s*\(")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
PUNCTUATION = " :;,.'()"


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


def main():
    expected = "\n".join(
        path.read_text(encoding="utf-8", errors="replace")
        for path in sorted((ROOT / "test").rglob("*")) if path.is_file()
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
                missing.append(f"{path.relative_to(ROOT)}:{line}: {longest}")
    print("\n".join(missing))
    print(f"{total} messages, {len(missing)} that no test expects")


if __name__ == "__main__":
    main()
