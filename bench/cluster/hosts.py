#!/usr/bin/env python3
"""Runs the plan for 1e12 documents at a ten-thousandth of its size: the documents of each host in an
index of their own, every query sent to every host. The answers must be those of one index of all.

    go build -o ndd ./cmd/ndd && bench/cluster/hosts.py ./ndd [FINGERPRINTS [HOSTS]]

Needs Python 3.9, and 24 bytes of disk and 15 of memory a fingerprint.
"""
import array
import os
import random
import resource
import subprocess
import sys
import tempfile
import time


def run(*command):
    """Runs ndd; returns seconds of wall time and of processor time."""
    def processor():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    began, used = time.monotonic(), processor()
    subprocess.run([ndd, *command], check=True, stderr=subprocess.PIPE)
    return time.monotonic() - began, processor() - used


def planted(path, n, count, rng):
    """Writes count queries: half are within 3 bits of a fingerprint of the file each, half are random."""
    queries = array.array("Q")
    with open(path, "rb") as f:
        for i in range(count):
            query = rng.getrandbits(64)
            if i % 2 == 0:
                f.seek(8 * rng.randrange(n))
                query = int.from_bytes(f.read(8), "little")
                for bit in rng.sample(range(64), i // 2 % 4):
                    query ^= 1 << bit
            queries.append(query)
    return queries


def answers(path, base=0):
    """Returns the set of (query, distance, document) of a table of hits."""
    with open(path) as f:
        rows = (line.split("\t") for line in f if line[0].isdigit())
        return {(int(query), int(distance), base + int(document)) for query, _, distance, document in rows}


def size(folder):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(folder) for name in names)


def main(n, hosts):
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        def at(name):
            return os.path.join(folder, name)
        with open(at("F.bin"), "wb") as f:
            for first in range(0, n, 1 << 20):
                f.write(rng.randbytes(8 * min(1 << 20, n - first)))
        queries = planted(at("F.bin"), n, n // 100, rng)
        with open(at("Q.bin"), "wb") as f:
            queries.tofile(f)

        built = run("build", "--ids", "rows", "-o", at("one"), at("F.bin"))
        asked = run("batch", "-i", at("one"), "-o", at("one.tsv"), at("Q.bin"))
        want = answers(at("one.tsv"))
        print(f"one index    {size(at('one')) / n:6.2f} bytes a fingerprint  built in {built[1]:7.1f} s of processors"
              f"  {len(queries):,} queries {asked[1]:7.1f} s of processors  {len(want):,} hits")

        got, total, build, ask, slowest, sent = set(), 0, 0.0, 0.0, 0.0, 0
        with open(at("F.bin"), "rb") as f:
            for host in range(hosts):
                first, end = n * host // hosts, n * (host + 1) // hosts
                with open(at("part.bin"), "wb") as part:
                    part.write(f.read(8 * (end - first)))
                build += run("build", "--force", "--ids", "rows", "-o", at("part"), at("part.bin"))[1]
                wall, used = run("batch", "--force", "-i", at("part"), "-o", at("part.tsv"), at("Q.bin"))
                ask, slowest = ask + used, max(slowest, wall)
                total += size(at("part"))
                sent += 8 * len(queries) + os.path.getsize(at("part.tsv"))
                got |= answers(at("part.tsv"), first)
        print(f"{hosts:4} hosts   {total / n:6.2f} bytes a fingerprint  built in {build:7.1f} s of processors"
              f"  {len(queries):,} queries {ask:7.1f} s of processors  {len(got):,} hits")
        print(f"             the slowest host {slowest:.2f} s; {sent / 1e6:,.0f} MB sent")

        join = run("dedup", "--force", "-o", at("near"), at("F.bin"), at("Q.bin"))
        print(f"instead, all near pairs of old and new ones by sorting: {join[1]:.1f} s of processors")
        if got != want or len(want) < len(queries) // 2:
            sys.exit(f"the hosts found {len(got):,} and one index {len(want):,}; {len(got ^ want):,} differ")


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    ndd = os.path.abspath(sys.argv[1])
    main(int(float(sys.argv[2])) if len(sys.argv) > 2 else 100_000_000, int(sys.argv[3]) if len(sys.argv) > 3 else 125)
