#!/usr/bin/env python3
"""Checks the figures per document of the plan for 1e12 documents with the local engines: from compressed input to clean
output in shares, and the bytes of the first round of Hadoop's jobs.

    go build -o ndd ./cmd/ndd && bench/cluster/shares.py ./ndd [DOCUMENTS [SHARES [WORDS]]]

Needs Python 3.9, zstd, and 6 KB of disk a document. A third of the invented documents are edits of an earlier one. With WORDS
the texts have so many words in place of 4 KB, and Hadoop's jobs are left out: 10 million of 20 words need 5 GB of disk.
"""
import glob
import itertools
import json
import os
import random
import resource
import subprocess
import sys
import tempfile


def run(*command, stdin=None, stdout=None):
    """Runs a command; returns seconds of processor time."""
    def processor():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    used = processor()
    done = subprocess.run(command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, env={**os.environ, "LC_ALL": "C"})
    if done.returncode not in (0, 4):
        sys.exit(f"{command}: {done.returncode} {done.stderr.decode()}")
    return processor() - used


def documents(n, rng, length):
    """Yields n texts of some words, or of about 4 KB if length is 0."""
    words = ["".join(rng.choices("aeiourtnslm", k=rng.randrange(2, 11))) for _ in range(50_000)]
    parts = words if length else [" ".join(rng.choices(words, k=16)) + "." for _ in range(200_000)]
    earlier = []
    for i in range(n):
        if i % 3 == 2:
            text = list(rng.choice(earlier))
            if i % 6 == 5:
                text[rng.randrange(len(text))] = rng.choice(parts)
        else:
            text = rng.choices(parts, k=length or 36)
            if len(earlier) < 20_000:
                earlier.append(text)
        yield " ".join(text)


def size(pattern):
    return sum(os.path.getsize(path) for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))


def main(n, shares, length):
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.mkdir("in")
        text, texts = 0, documents(n, rng, length)
        for share in range(shares):
            path = f"in/{share:04}.jsonl"
            with open(path, "w") as f:
                for i, t in enumerate(itertools.islice(texts, n // shares)):
                    text += len(t)
                    f.write(json.dumps({"id": f"{share}-{i}", "text": t}) + "\n")
            run("zstd", "-q", "--rm", path)
        n = n // shares * shares
        packed = size("in/*")

        def line(step, seconds, **bytes_of):
            more = "".join(f"  {name.replace('_', ' ')} {b / n:8.1f}" for name, b in bytes_of.items())
            print(f"{step:12} {1e6 * seconds / n:8.1f} us a document{more}", flush=True)
        print(f"{n:,} documents in {shares} shares; bytes a document: text {text / n:.0f}, zst {packed / n:.0f}")
        unpack = run("zstd", "-dqc", *sorted(glob.glob("in/*")), stdout=subprocess.DEVNULL)
        line("decompress", unpack, read=packed)
        used = sum(run(ndd, "fingerprint", "-q", "--shard", f"{i}/{shares}", "-o", f"prints/{i}.ndf", "in") for i in range(shares))
        line("fingerprint", used, read=packed, written=size("prints/*"))
        used = run(ndd, "dedup", "-q", "-k", "3", "-o", "joined", "prints/*.ndf")
        dropped = sum(1 for _ in open("joined/dropped.tsv")) - 1
        line("dedup -k 3", used, read=size("prints/*"), decisions=size("joined/decisions.*"), table=size("joined/dropped.tsv"))
        used = sum(run(ndd, "filter", "-q", "--dropped", "joined", "--shard", f"{i}/{shares}", "--write-kept", f"clean/{i}", "in")
                   for i in range(shares))
        line("filter", used, read=packed + size("joined/decisions.rows"), written=size("clean/**"))
        line("one run", run(ndd, "dedup", "-q", "-k", "3", "-o", "whole", "--write-kept", "clean/whole", "in"), read=packed)
        names = [(f"whole/{name}", f"joined/{name}") for name in ("dropped.tsv", "decisions.rows", "kept.txt")]
        names += [(path, f"clean/whole/{os.path.basename(path)}") for path in glob.glob("clean/[0-9]*/*")]
        for whole, share in names:
            if open(whole, "rb").read() != open(share, "rb").read():
                sys.exit(f"{share} of the shares differs from that of one run")
        print(f"{dropped:,} documents dropped, as in one run")
        if length:
            return

        run("zstd", "-dqc", *sorted(glob.glob("in/*")), stdout=open("lines", "wb"))
        chain = (("fingerprint", "map", "fingerprint", "lines", "prints.tsv"), ("to pairs", "map", "pairs", "prints.tsv", "halves"),
                 ("pairs", "reduce", "pairs", "sorted", "pairs"), ("to dedup", "map", "dedup", "pairs", "votes"))
        for step, kind, job, source, target in chain:
            if source == "sorted":
                run("sort", "-o", "sorted", "halves")
            with open(source, "rb") as f, open(target, "wb") as to:
                k = ["-k", "3"] if job == "pairs" else []
                used = run(ndd, "mapreduce", kind, job, *k, stdin=f, stdout=to)
            line("job " + step, used, written=os.path.getsize(target))


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    ndd = os.path.abspath(sys.argv[1])
    main(int(float(sys.argv[2])) if len(sys.argv) > 2 else 100_000, int(sys.argv[3]) if len(sys.argv) > 3 else 8,
         int(sys.argv[4]) if len(sys.argv) > 4 else 0)
