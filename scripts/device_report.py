"""What `./dev test --device=hip` runs on a card: covers against the f64 reference, then
the times of some problems. Writes a report to send back (docs/tuning.md)."""

import argparse
import json
import platform
import re
import subprocess
import sys

import modelled

COVERS = ("small", "backward-small", "weights-small", "quick", "backward-quick")
PROBLEMS = tuple(
    modelled.CASE.format(n=n, h=h, s=s, d=d, t=t)
    for n, h, s, d, t in ((384, 4, 384, 32, "bf16"), (384, 4, 384, 32, "f16"),
                          (391, 4, 391, 32, "bf16"), (128, 8, 256, 32, "bf16"),
                          (128, 4, 1024, 64, "bf16"), (64, 4, 512, 128, "bf16")))


def check(tool, flags, *words):
    """The tool's exit status, the lines that it prints, and its errors."""
    done = subprocess.run([tool, *flags, *words], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines(), done.stderr.strip()


def run_cover(tool, flags, name):
    status, lines, errors = check(tool, flags, *name)
    summary = next((line for line in lines if re.search(r"\d+ failed", line)), "")
    return {"cover": " ".join(name), "passed": status == 0, "summary": summary,
            "device": lines[0] if lines else "",
            "failures": [line for line in lines if "FAIL" in line][:50],
            "errors": errors[-2000:]}


def time_problem(tool, flags, problem):
    """Each launch of the default schedules, timed after its results were checked."""
    status, lines, errors = check(tool, flags, "--defaults", "--quiet", problem)
    keys = ("kernel", "work_items", "cycles", "cycles_a_logit", "us", "bound")
    launches = [dict(zip(keys, row))
                for row in modelled.launch_rows("\n".join(lines))]
    return {"problem": problem, "passed": status == 0, "launches": launches,
            "errors": errors[-2000:]}


def write(path, report):
    """After each part: what was found stays where a later one ends it."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--check", required=True, help="evoformer-check")
    options.add_argument("--tune", required=True, help="evoformer-tune")
    options.add_argument("--output", required=True, help="the report, JSON")
    options.add_argument("--cases", help="a file of cases in the place of the covers")
    options.add_argument("--problems", type=int, default=len(PROBLEMS),
                         help="how many are timed (default: all)")
    options.add_argument("flags", nargs="*", metavar="-- --device=hip …",
                         help="flags of both tools")
    said = options.parse_args()
    covers = ([f"--cases={said.cases}"],) if said.cases else tuple(
        [f"--cover={name}"] for name in COVERS)
    report = {"host": platform.platform(), "flags": said.flags, "covers": [],
              "problems": []}
    write(said.output, report)  # What cannot be written is said at once.
    for name in covers:
        print(f"checking {name[0]} …", flush=True)
        report["covers"].append(run_cover(said.check, said.flags, name))
        write(said.output, report)
        last = report["covers"][-1]
        print(f"  {last['summary'] or last['errors']}", flush=True)
    for problem in PROBLEMS[:said.problems]:
        print(f"timing {problem} …", flush=True)
        report["problems"].append(time_problem(said.tune, said.flags, problem))
        write(said.output, report)
        last = report["problems"][-1]
        for launch in last["launches"]:
            print(f"  {launch['kernel']}: {launch['us']} us")
        if last["errors"]:
            print(f"  {last['errors']}")
    entries = report["covers"] + report["problems"]
    failed = sum(not entry["passed"] for entry in entries)
    print(f"{failed} of {len(entries)} parts failed; the report is in {said.output}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
