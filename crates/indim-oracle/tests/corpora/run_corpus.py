"""Runs the corpora through `indim oracle` and prints what differs: `INDIM=... python3 run_corpus.py
[FILE...]`.

`tests/oracle.rs` does the same in Rust; this one is for people who hold only the binary.
"""

import json
import pathlib
import sys

from judge import differences


def main():
    here = pathlib.Path(__file__).parent
    for path in map(pathlib.Path, sys.argv[1:] or sorted(here.glob("*.jsonl"))):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        wrong = differences((line["case"], line["expect"]) for line in lines)
        print(f"{path.name}: {len(lines)} cases, {len(wrong)} differ")
        for case, expected, verdict in wrong[:5]:
            print(
                "  ",
                json.dumps(case),
                "\n    expected",
                json.dumps(expected),
                "\n    given   ",
                json.dumps(verdict),
            )


main()
