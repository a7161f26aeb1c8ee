"""Runs ndd.spark on a local Spark, which needs pyspark, pandas and Java."""
import os
import random
import shutil
import sys

import pytest

import ndd
from conftest import text

pyspark = pytest.importorskip("pyspark", reason="these tests need pyspark: 'bench/cluster/spark test' has it")
if not os.path.isdir(os.path.join(os.path.dirname(pyspark.__file__), "jars")):
    pytest.skip("these tests need pyspark with its jars: 'bench/cluster/spark test' has them", allow_module_level=True)
pytest.importorskip("pandas", reason="these tests need pandas, as pyspark does")
if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
    pytest.skip("these tests need Java: Spark runs on it", allow_module_level=True)
pa = pytest.importorskip("pyarrow")

import ndd.spark
from ndd import _steps

# The program of the executors. While the folder armed is there, the first process of each step is killed.
KILLED = """#!/bin/sh
case "$3" in
mapreduce) step="$3 $4 $5" ;;
*) step=$3 ;;
esac
if [ -d '{folder}/armed' ] && [ "$#" -gt 2 ] && mkdir "{folder}/armed/$step" 2>/dev/null; then kill -9 $$; fi
exec '{program}' "$@"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spark")
    program = folder / "ndd"
    program.write_text(KILLED.format(folder=folder, program=ndd.find_ndd()))
    program.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def spark(folder):
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NDD", str(folder / "ndd"))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        settings = {"spark.ui.enabled": "false", "spark.driver.memory": "512m", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
                    "spark.sql.shuffle.partitions": "2", "spark.local.dir": str(folder), "spark.sql.session.timeZone": "Asia/Tokyo",
                    "spark.driver.host": "127.0.0.1", "spark.sql.execution.arrow.maxRecordsPerBatch": "100"}
        session = SparkSession.builder.master("local[2,4]").config(map=settings).getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


def corpus(n=500):
    """Returns rows with chains of edits, a cluster, one footer, repeated URLs, and empty, short and odd texts."""
    r, rows = random.Random(7), []

    def edited(words, count):
        words = words.split()
        for _ in range(count):
            words[r.randrange(len(words))] = f"edit{r.randrange(10**6)}"
        return " ".join(words)

    big, chain = text(-1, 100), ""
    while len(rows) < n:
        i = len(rows)
        chain = edited(chain, 9) if chain and i % 10 < 4 else text(i, 100)
        body = {4: edited(big, r.randrange(8)), 5: edited(big, 3), 6: edited(big, 1), 7: rows[i // 2][1] if rows else ""}.get(i % 10, chain)
        body = {30: None, 31: "", 32: "two words", 33: "tab\tnul\x00\r\n end", 34: "\u2028 é \U0001f600"}.get(i % 50, f"{body} © an invented shop")
        date = [None, f"2024-{1 + i % 12:02}-{1 + i % 28:02}", f"202403{1 + i % 28:02}", f"2024-03-05T{i % 24:02}:00:00+09:00", str(1709210096 + 9999 * i)][i % 5]
        score = [None, str(i % 7), "high", f"{i % 3}.5"][i % 4]
        rows.append((f"https://e.example/{i % 90}", body, date, score, i * 31 % 17 / 4))
    return rows


SCHEMA = "url string, `the text` string, date string, score string, rank double"


@pytest.fixture(scope="module")
def pages(spark, folder):
    path = str(folder / "pages")
    spark.createDataFrame(corpus(), SCHEMA).repartition(3).write.parquet(path)
    return spark.read.option("recursiveFileLookup", "true").parquet(path).repartition(3, "url")


def check(pages, armed=None, steps=None, **options):
    """The decisions are those of one machine for the rows in the order of their keys."""
    clean = ndd.spark.dedup(pages, text="the text", **options)
    if armed:
        assert set(os.listdir(armed)) == steps
        shutil.rmtree(armed)
    rows = clean.rows.orderBy("row").toArrow()
    place = {row: i for i, row in enumerate(rows["row"].to_pylist())}
    options = {name: value for name, value in options.items() if name not in ("join", "partitions")}
    one = ndd.dedup(rows.drop_columns(["row"]), text="the text", id="url", progress=False, **options)
    want = sorted((r["row"], r["kept_row"], r["distance"], r["jaccard"]) for r in one.dropped.to_pylist())
    assert len(want) > 100
    found = [(place[r["row"]], place[r["kept_row"]], r["distance"], r["similarity"]) for r in clean.decisions.toArrow().to_pylist()]
    assert sorted(found) == want
    assert clean.schema == pages.schema
    kept = [tuple(row) for row in clean.collect()]
    order = {name: rows[name].to_pylist() for name in pages.columns}
    assert sorted(map(repr, kept)) == sorted(repr(tuple(order[name][i] for name in pages.columns)) for i in one.kept)
    assert clean.stats == {"documents": 500, "kept": len(kept), "dropped": len(want), "empty": 20}
    clean.rows.unpersist()


def test_fields(pages):
    check(pages, keep=["newest", "score", "shortest"])
    check(pages, keep="rank,longest", threshold=0.8, k=5)


# Values from the least to the largest, as in TestValues of engine/near/keep.
DATES = [None, "1969-12-31", "0", "2001-02-03", "2024-03-05T01:00:00+09:00", "2024-03-04 20:00:00", "20240305", "2024-03-05T00:30:00Z",
         "1709600000", "1709600000500", "20240305010000"]
SCORES = [None, "", "NaN", "abc", "abd", "-Inf", "-1e300", "-2", "-1.5", "0", "0.5", "1", "10", "1e3", "9007199254740992", "9007199254740993", "+Inf"]


@pytest.mark.parametrize("keep, values", [("newest:f", DATES), ("f", SCORES)])
def test_preferences(spark, keep, values):
    from pyspark.sql import functions as F

    rows = [(value, place) for place, value in enumerate(values)]
    df = spark.createDataFrame(random.Random(1).sample(rows, len(rows)), "f string, place int")
    by = ndd.spark._preferences(df, F.col("f"), [keep])
    assert [row[0] for row in df.orderBy(*(column.asc_nulls_first() for column in by)).select("place").collect()] == list(range(len(rows)))


def test_shuffle(pages):
    check(pages, join="shuffle", keep="score", threshold=0, partitions=3)


@pytest.mark.parametrize("join, keep, steps", [
    ("one", "first", {"fingerprint", "dedup"}),
    ("shuffle", "longest", {"mapreduce map fingerprint", "mapreduce collect dedup"} | {f"mapreduce {s} {job}" for s in ("map", "reduce") for job in ("pairs", "dedup")}),
])
def test_killed(pages, folder, join, keep, steps):
    (folder / "armed").mkdir()
    check(pages, folder / "armed", steps, join=join, keep=keep)


def test_changed_rows(spark, folder):
    """A row that is not the one that was decided about is never removed, and an error tells it."""
    from pyspark.sql import functions as F

    path = folder / "changing"
    read = F.udf(lambda i: path.read_text().split("\n")[i])
    for changed in (0, 1):  # the kept row, and the removed one
        path.write_text("\n".join([text(1), text(1), text(2)]))
        clean = ndd.spark.dedup(spark.range(3).coalesce(1).select(read("id").alias("text")))
        assert clean.count() == 2
        clean.rows.unpersist()
        path.write_text("\n".join([text(3 if i == changed else 1) for i in (0, 1)] + [text(2)]))
        with pytest.raises(Exception, match="rows or partitions changed"):
            clean.select("text").collect()


def test_vanished_rows(spark, folder):
    """If the last rows of a partition vanish after the decisions, among them one that was kept for others, there is an error."""
    from pyspark.sql import functions as F

    path = folder / "vanishing.jsonl"
    lines = [f'{{"text": "{words}"}}\n' for words in (text(2), text(1), text(1) + " and more")]
    path.write_text("".join(lines))
    clean = ndd.spark.dedup(spark.read.schema("text string").json(str(path)), keep="longest")
    assert [row["text"] for row in clean.collect()] == [text(2), text(1) + " and more"]
    path.write_text("".join(lines[:2]))
    for result in clean, clean.union(clean).coalesce(1), clean.where(F.col("text") == text(2)), clean.select(F.lit(1)):
        with pytest.raises(Exception, match="rows or partitions changed"):
            result.collect()


def test_changed_partitions(spark, folder, monkeypatch):
    """Rows that get other numbers, as files do in other partitions, are an error, and so is another number of rows."""
    path = str(folder / "parts")
    for words in [text(1), text(2)], [text(3), text(3)]:
        spark.createDataFrame([(w,) for w in words], "text string").coalesce(1).write.mode("append").parquet(path)
    clean = ndd.spark.dedup(spark.read.parquet(path))
    assert clean.count() == 3
    spark.conf.set("spark.sql.files.minPartitionNum", "1")
    try:
        with pytest.raises(Exception, match="rows or partitions changed"):
            clean.count()
    finally:
        spark.conf.unset("spark.sql.files.minPartitionNum")

    growing = folder / "growing"
    growing.write_text("1")

    def grown(i):
        rows = len(growing.read_text())
        if not i:
            growing.write_text("1" * (rows + 1))
        return i < rows

    monkeypatch.setattr(ndd.spark, "_is_repeatable", lambda df: True)
    from pyspark.sql import functions as F

    with pytest.raises(ndd.NddError, match="rows or partitions changed"):
        ndd.spark.dedup(spark.range(50).coalesce(1).where(F.udf(grown, "boolean")("id")).selectExpr("string(id) as text"))


def test_names(spark):
    """Columns may have the names that ndd.spark uses, and stay."""
    names = ["row", "__ndd_row", "__NDD_rowhash", "__ndd_hash", "hash", "kept_row", "at", "by0", "part", "a.b`c", "text"]
    rows = [(*[i] * (len(names) - 1), text(i % 2)) for i in range(4)]
    df = spark.createDataFrame(rows, ", ".join(f"`{n.replace('`', '``')}` {'string' if n == 'text' else 'int'}" for n in names)).coalesce(1)
    clean = ndd.spark.dedup(df, keep="row")
    assert clean.schema == df.schema and sorted(map(tuple, clean.collect())) == rows[2:]
    assert clean.decisions.columns == ["row", "kept_row", "distance", "similarity"]
    assert sorted(row["row_"] for row in clean.rows.join(clean.decisions, "row").collect()) == [0, 1]
    with pytest.raises(ndd.UsageError, match="several columns 'text' among .*, Text"):  # Spark does not tell them apart
        ndd.spark.dedup(df.toDF(*names[1:], "Text"))


def test_persisted(spark):
    """What is persisted goes when it is told to, or at an error, if no other result has it."""
    df, held = spark.createDataFrame([(text(1),)] * 3, "text string").repartition(2), spark.sparkContext._jsc.getPersistentRDDs
    before = set(held())
    clean = ndd.spark.dedup(df)
    for left in (2, 0):
        with pytest.raises(ndd.NddError):
            ndd.spark.dedup(df, memory=10)
        assert len(set(held()) - before) == left
        if left:
            assert clean.count() == 1
        clean.rows.unpersist()
        clean.decisions.unpersist()


def test_repeatable(spark, folder):
    """What may have other rows at the second reading is persisted."""
    from pyspark.sql import functions as F

    path = str(folder / "plain")
    spark.range(4).write.parquet(path)
    plain = spark.read.parquet(path)
    assert ndd.spark._is_repeatable(plain.where("id > 1").select((F.col("id") + 1).alias("n")))
    for other in plain.repartition(2), plain.where(F.rand() > 0.5), plain.select(F.udf(str)("id")), plain.limit(2), plain.sort("id"):
        assert not ndd.spark._is_repeatable(other)
    for old in ("csv", ""):  # which columns are read decides which rows are malformed
        spark.conf.set("spark.sql.sources.useV1SourceList", old)
        csv = spark.read.schema("id int").option("header", "true")
        assert [ndd.spark._is_repeatable(csv.option("mode", mode).csv(path)) for mode in ("permissive", "DropMalformed")] == [True, False]
    spark.conf.unset("spark.sql.sources.useV1SourceList")


def test_wrong(pages, spark):
    for options, said in [({"text": "body"}, "no column 'body' among url"), ({}, "no column 'text' among url"), ({"text": "rank"}, "type double"),
                          ({"text": "url", "k": 99}, "k must be between"), ({"text": "url", "keep": "size"}, "no column 'size' among url, the text, date, score, rank$"),
                          ({"text": "url", "keep": []}, "keep has no name"),
                          ({"text": "url", "keep": "newest:url"}, "no date of column 'url'"), ({"text": "url", "join": "two"}, "join must be")]:
        with pytest.raises(ndd.UsageError, match=said):
            ndd.spark.dedup(pages, **options)
    with pytest.raises(ndd.UsageError, match="type list is no DataFrame of Spark"):
        ndd.spark.dedup([text(1)])
    with pytest.raises(ndd.NddError, match=r"row \d+: too large: more than 100 bytes"):
        ndd.spark.dedup(pages, text="the text", max_document=100)
    for join in ("one", "shuffle"):
        assert ndd.spark.dedup(spark.createDataFrame([], "text string"), join=join).count() == 0


def test_program(spark):
    with pytest.raises(ndd.NddError, match="has no program ndd v0.0, which the driver has: .* is ndd .*--archives"):
        ndd.spark._use(("ndd-missing", "ndd v0.0"))
    said = "An exception was thrown from the Python worker:\n  import pyarrow as pa\nModuleNotFoundError: No module named 'pyarrow'\n\nJVM stacktrace"
    assert "executors has no pyarrow: install" in str(ndd.spark._plain(RuntimeError(said)))


def test_pieces(monkeypatch, tmp_path):
    """Several pieces, and chunks in any order and twice, are decided about as one file. One that is missing is an error."""
    monkeypatch.setattr(_steps, "PIECE", 20_000)
    monkeypatch.setattr(_steps, "CHUNK", 100)
    texts = [row[1] or "" for row in corpus()]

    def batches():
        for at in range(0, len(texts), 50):
            numbers = pa.array(range(at, at + 50), pa.int64())
            yield pa.record_batch([_steps.names([numbers, numbers]), pa.array(texts[at : at + 50])], ["id", "text"])

    paths, chunks = 0, []
    for piece, (path, _) in enumerate(_steps.fingerprint(batches(), {}, str)):
        chunks += [(f"{piece:06}", *chunk) for chunk in _steps.chunks(path)]
        paths += 1
    assert paths > 3
    table = pa.Table.from_batches(_steps.decide(_steps.files(random.Random(1).sample(chunks, len(chunks)) + chunks[:3], tmp_path), {}))
    want = ndd.dedup(texts, progress=False).dropped
    assert sorted(_steps.numbers(table["id"], 1)[:, 0]) == sorted(want["row"].to_pylist())
    for missing in 0, len(chunks) // 2, len(chunks) - 1:
        (tmp_path / str(missing)).mkdir()
        with pytest.raises(ndd.CorruptError):
            list(_steps.decide(_steps.files((c for c in chunks if c is not chunks[missing]), tmp_path / str(missing)), {}))
