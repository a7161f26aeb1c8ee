"""Runs jobs of 'ndd mapreduce' by Spark's pipe and holds their results against one machine's."""
import os
import subprocess
import sys

from pyspark import SparkContext

HDFS, W = os.environ["HDFS"], os.environ["CLUSTER_STATE"] + "/job/"
sc = SparkContext(appName="ndd")
sc.setLogLevel("ERROR")
failed = 0


def check(name, ok, more=""):
    global failed
    failed += not ok
    print("  ok   " if ok else "  FAIL ", name, more, flush=True)


def pipe(rdd, command, check_code=True):
    return rdd.pipe("./ndd mapreduce " + command, checkCode=check_code)


def reduce(mapped, command):
    """The shuffle of every job, and its reduce."""
    records = mapped.map(lambda l: l.partition("\t")[::2])
    placed = records.repartitionAndSortWithinPartitions(2, lambda k: 64 * ord(k[0]) + ord(k[1]))
    return pipe(placed.map("\t".join), "reduce " + command)


def collected(rdd, job, parts):
    """The results of a job, checked, as sorted lines."""
    text = "".join(l + "\n" for l in rdd.collect())
    run = subprocess.run([W + "ndd", "mapreduce", "collect", job, "-q", "--parts", str(parts)], input=text.encode(), stdout=subprocess.PIPE, check=True)
    return sorted(run.stdout.splitlines(True))


def wanted(name):
    with open(W + name, "rb") as f:
        return f.read().splitlines(True)


def same(name, rdd, job, parts, want):
    got, want = collected(rdd, job, parts), wanted(want)
    check(name, got == want and len(want) > 0, "%d lines" % len(want))


prints = pipe(sc.textFile(HDFS + "/in/docs"), "map fingerprint").cache()
maps = prints.getNumPartitions()
same("fingerprints", prints, "fingerprint", maps, "want.prints")
same("pairs", reduce(pipe(prints, "map pairs"), "pairs --parts %d" % maps), "pairs", 2, "want.pairs")

marker = W + "killed"
if os.path.exists(marker):
    os.remove(marker)
dies = "bash -c '[ -e %s ] || { touch %s; head -c 1000 | \"$@\" >/dev/null; kill -9 $$; }; exec \"$@\"' - ./ndd mapreduce map scan --queries Q.ndf" % (marker, marker)
same("hits, with a map that was killed", reduce(prints.pipe(dies, checkCode=True), "scan --parts %d" % maps), "scan", 2, "want.hits")
check("it was killed", os.path.exists(marker))

# PySpark takes what a killed filter has written for the whole unless it is told to check the status. A reduce notices.
lost = "bash -c './ndd mapreduce map scan --queries Q.ndf | head -n 3; kill -9 $$'"
try:
    reduce(prints.pipe(lost, checkCode=False), "scan").count()
    check("a part that is lost in silence is noticed", False)
except Exception as e:
    check("a part that is lost in silence is noticed", "error code 3" in str(e))

raw = sc.binaryRecords(HDFS + "/in/raw", 65536).zipWithIndex()
encoded = raw.map(lambda r: "%d\t%s" % (r[1] * 8192, __import__("base64").b64encode(r[0]).decode()))
same("hits in binary chunks as base64", reduce(pipe(encoded, "map scan --input base64 --queries Qraw.bin"), "scan"), "scan", 2, "want.raw")
sc.stop()
sys.exit(failed > 0)
