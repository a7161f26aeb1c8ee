"""Runs jobs of 'ndd mapreduce' by Spark's pipe, each by the lines that its --help shows, with the folders of this program
and two reduces, and holds the results against one machine's: all, or those of the argument short."""
import os
import shutil
import subprocess
import sys

from pyspark import SparkContext

W = os.environ["CLUSTER_STATE"] + "/job/"
HDFS = os.environ["HDFS"]
IN, OUT = (HDFS + "/in/", HDFS + "/spark/") if HDFS else ("file://" + W, "file://" + W + "spark/")
shutil.rmtree(W + "spark", ignore_errors=True)
for name in ["map", "lost"]:
    shutil.rmtree(W + "killed." + name, ignore_errors=True)
sc = SparkContext(appName="ndd")
sc.setLogLevel("ERROR")
failed = 0


def check(name, ok, more=""):
    global failed
    failed += not ok
    print("  ok   " if ok else "  FAIL ", name, more, flush=True)


def ndd(*args, text=b"", status=(0,)):
    run = subprocess.run([W + "ndd", "mapreduce", *args], input=text, stdout=subprocess.PIPE)
    if run.returncode not in status:
        raise SystemExit("ndd mapreduce %s: status %d" % (" ".join(args), run.returncode))
    return run.stdout, run.returncode


def run(name, job, source, *edits):
    """Runs the lines of a job's help, from a folder or an RDD to OUT + name, with every other text of edits for the one before it."""
    lines = ndd("map", job, "--help")[0].decode().split("Spark (Python):\n\n")[1].split("\nUsage:")[0]
    code = "\n".join(l[2:] for l in lines.splitlines())
    edits = ('sc.textFile("/in")', "source" if not isinstance(source, str) else "sc.textFile(%r)" % source, '"/out"', repr(OUT + name)) + edits
    if "WithinPartitions(8" in code:
        edits += ("WithinPartitions(8", "WithinPartitions(2")
    for old, new in zip(edits[::2], edits[1::2]):
        if old not in code:
            raise SystemExit("%s: no %s in the lines of its help:\n%s" % (name, old, code))
        code = code.replace(old, new)
    exec(code, {"sc": sc, "source": source})
    return OUT + name


def collected(name, job, parts, *flags, status=(0,)):
    """The results of a job, checked, as sorted lines."""
    text = "".join(l + "\n" for l in sc.textFile(OUT + name).collect())
    out, code = ndd("collect", job, "-q", "--parts", str(parts), *flags, text=text.encode(), status=status)
    return sorted(out.splitlines(True)), code


def wanted(name):
    with open(W + name, "rb") as f:
        return f.read().splitlines(True)


def same(what, got, want, columns=None):
    want = wanted(want)
    if columns:
        got = [b"\t".join(row.rstrip(b"\n").split(b"\t")[:columns]) + b"\n" for row in got]
    check(what, got == want and len(want) > 0, "%d lines" % len(want))


MAP = "./ndd mapreduce map"
prints = run("fingerprint", "fingerprint", IN + "docs")
maps = sc.textFile(IN + "docs").getNumPartitions()
same("fingerprints", collected("fingerprint", "fingerprint", maps)[0], "want.prints")
pairs = run("pairs", "pairs", prints)
same("pairs", collected("pairs", "pairs", 2)[0], "want.pairs")

run("killed", "scan", prints, "Q.bin", "Q.ndf", MAP, "./dies map " + MAP)
same("hits, with a map that was killed", collected("killed", "scan", 2)[0], "want.hits")
check("it was killed", os.path.exists(W + "killed.map"))

# PySpark takes what a killed filter has written for the whole unless it is told to check the status. A reduce notices.
try:
    run("lost", "scan", prints, "Q.bin", "Q.ndf", MAP, "./dies lost " + MAP, 'Q.ndf", checkCode=True', 'Q.ndf", checkCode=False')
    check("a part that is lost in silence is noticed", False)
except Exception as e:
    check("a part that is lost in silence is noticed", "error code 3" in str(e))


def all_jobs():
    raw = sc.binaryRecords(IN + "raw", 8).zipWithIndex()
    lines = raw.map(lambda r: "%016x\t%d" % (int.from_bytes(r[0], "little"), r[1]))
    run("raw", "scan", lines, "Q.bin", "Qraw.bin")
    same("hits in binary chunks", collected("raw", "scan", 2)[0], "want.raw")

    documents, rounds, code = run("round0", "dedup", prints), 0, 4
    while code == 4:
        rounds += 1
        near = run("near%d" % rounds, "pairs", documents, "map pairs -k 8", "map pairs -k 8 --most 1", "reduce pairs -k 8", "reduce pairs -k 8 --most 1")
        documents = run("round%d" % rounds, "dedup", documents + "," + near)
        rows, code = collected("round%d" % rounds, "dedup", 2, status=(0, 4))
    same("documents that are dropped, after %d rounds" % rounds, rows, "want.drops", 4)

    signatures = run("signatures", "signatures", IN + "docs")
    same("signatures", collected("signatures", "signatures", maps)[0], "want.signatures")
    run("copies-docs", "copies-docs", signatures)
    same("copies by documents", collected("copies-docs", "copies-docs", 2, "--signatures", W + "signatures.tsv")[0], "want.copies")
    run("copies-sum", "copies-sum", run("copies-terms", "copies-terms", signatures))
    same("copies by terms", collected("copies-sum", "copies-sum", 2, "--signatures", W + "signatures.tsv")[0], "want.copies")


if sys.argv[1:] != ["short"]:
    all_jobs()
sc.stop()
sys.exit(failed > 0)
