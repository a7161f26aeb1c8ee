import random

import pytest

WORDS = ["".join(random.Random(i).choices("abcdefghijklmnoprstuvw", k=3 + i % 7)) for i in range(2000)]
KEPT = [i for i in range(60) if i % 3 != 2]


def text(seed, words=120):
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def corpus(n=400):
    """Returns documents with chains of edits, a cluster of 30 %, a footer, and URLs, short and empty texts that repeat."""
    footer, out, chance = text(-1, 15), [], random.Random(n)
    for i in range(n):
        if i % 10 < 3:  # the cluster
            words = text(-2).split()
            words[chance.randrange(len(words))] = WORDS[i]
        elif i % 10 < 6:  # chains of 12, of which each differs from the next by a few words
            if i % 40 == 3:
                changed = text(-2 - i).split()
            for _ in range(4):
                changed[chance.randrange(len(changed))] = chance.choice(WORDS)
            words = changed
        elif i % 10 == 6:
            words = [[], ["few", "words", WORDS[i]], ["a", WORDS[i]], None][i // 10 % 4]
        else:
            words = text(i % 50, 80 if i % 10 == 8 else 60 + i % 90).split()  # some are equal
        out.append({"url": f"https://example.org/{i % 7}", "text": None if words is None else " ".join(words + [footer] * (len(words) > 3))})
    return out


def list_of(table):
    """Returns the rows of a table, with pyarrow or without."""
    return table.to_pylist() if hasattr(table, "to_pylist") else table


def check(result, ids=range(60)):
    """The result is that of the texts, whose IDs are those given."""
    assert result.kept == KEPT
    assert result.stats["documents"] == 60 and result.stats["dropped"] == 20 and result.stats["clusters"] == 20
    rows = sorted(list_of(result.dropped), key=lambda r: r["row"])
    assert [r["row"] for r in rows] == [i for i in range(60) if i % 3 == 2]
    assert all(r["kept_row"] == r["row"] - 2 and r["distance"] <= 3 for r in rows)
    assert [r["id"] for r in rows] == [ids[r["row"]] for r in rows] and rows[0]["kept_id"] == ids[0]
    assert "/ndd-" not in str(rows) + str(result.stats) + str(list_of(result.clusters)) + str(list_of(result.sources))


@pytest.fixture
def texts():
    """Returns 60 texts: those at 3i + 2 are the ones at 3i with one word changed."""
    out = []
    for i in range(20):
        near = text(i).split()
        near[50] = "changed"
        out += [text(i), text(1000 + i), " ".join(near)]
    return out


DIES = """#!/bin/bash
[ $# -gt 2 ] || exec {ndd} "$@" # asked for its version
[ "$3" = mapreduce ] && step=$4-$5 || step=$3
died={folder}/died-$step
if [ ! -e $died ]; then # it gets a part of the input, and its caller dies
	touch $died
	{ head -n 20; kill -9 $PPID; } | {ndd} "$@"
	exit
fi
exec {ndd} "$@"
"""


@pytest.fixture
def dies(tmp_path):
    """Returns a program that is ndd, but kills the process that calls it the first time for each command."""
    import ndd

    program = tmp_path / "ndd"
    program.write_text(DIES.replace("{ndd}", ndd.find_ndd()).replace("{folder}", str(tmp_path)))
    program.chmod(0o755)
    return program


def pytest_configure(config):
    config.addinivalue_line("markers", "long: needs large libraries, or Java; run by .ci/python/run long")
