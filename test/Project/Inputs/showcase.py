"""scripts/showcase.py on lists of features with mistakes, and on measurements in which
something is missing."""

import json
import os
import sys
import xml.dom.minidom

root = sys.argv[1]
sys.path.insert(0, os.path.join(root, "scripts"))
import showcase


def table(**changes):
    row = {"what": "depth", "ours": "any", "show": ["test/support.json"],
           "peers": [["from 16", "a"]], **changes}
    return showcase.feature_table({"peers": ["A"], "rows": [row],
                                   "sources": {"a": ["its page", "https://a/"]}})


def refused(text, **changes):
    try:
        table(**changes)
    except showcase.Wrong as problem:
        assert text in str(problem), problem
    else:
        raise AssertionError(f"{changes} is accepted")


assert table().splitlines()[2] == (
    "| depth | any: [support.json](test/support.json) | [from 16](https://a/) |")
assert "| missing | not stated |" in table(
    ours="missing", show=[], peers=[["not stated", None]])
refused("there is no test/nothing.py", show=["test/nothing.py"])
refused("test/Python/test_numpy.py has no test_nothing",
        show=["test/Python/test_numpy.py::test_nothing"])
refused("either missing or shown", show=[])
refused("either missing or shown", ours="missing")
refused("has 0 cells for 1 peers", peers=[])
refused("names the source b, which is not listed", peers=[["yes", "b"]])
refused("says 'yes' of a peer without a source", peers=[["yes", None]])
refused("names chips, but not gfx1100, gfx1201, gfx90a, gfx950", ours="gfx942")
table(ours="sm_80, sm_86, sm_90 and sm_120")
try:
    showcase.replace_part("no marks", "speed", "")
    raise AssertionError("a part that is not there is replaced")
except showcase.Wrong:
    pass

data = json.loads(showcase.read(showcase.MEASURED))
# One shape of which nothing ran, one where only this project did.
first, second = list(data["shapes"])[:2]
data["candidates"] = [
    c for c in data["candidates"] if c["shape"] != first and
    (c["shape"] != second or c["peer"] == "evoformer")]
xml.dom.minidom.parseString(showcase.picture(data))
text = showcase.tables.render(data)
assert f"| {first} | – |" in text and "What did not run" in text
