"""Removes near-duplicates from a DataFrame of Spark.

    import ndd.spark
    clean = ndd.spark.dedup(df, text="text")

The driver ships this package and its program to the executors. They need pyarrow.
"""
import atexit
import contextlib
import functools
import hashlib
import importlib
import os
import pathlib
import re
import shutil
import tempfile
import zipfile
from typing import TYPE_CHECKING, Any, Iterator, Literal, TypedDict, cast

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from . import _binary, _errors, _sources, _steps
from ._arguments import Count, Distance, OneOrMany, Part, Path, Share, Size, checked, given
from ._errors import NddError, UsageError

PARTITION = 33  # bits of a row's number before those of its partition
ONE = 1_000_000_000  # rows that are compared in one task: 100 GB of its disk
BROADCAST = 2_000_000  # decisions that are sent to all executors; more are joined by a shuffle
CHANGED = "rows or partitions changed between two readings of the DataFrame: give df.persist(), or write it to files and give those"
DECISIONS = "row long, kept_row long, distance int, similarity double, hash long, kept_hash long"


class Stats(TypedDict):
    """The numbers of a deduplication."""

    documents: int  # rows
    kept: int
    dropped: int
    empty: int  # rows without a text: they stay


if TYPE_CHECKING:

    class Deduplicated(DataFrame):
        """A DataFrame without near-duplicates.

        Attributes:
            decisions: A DataFrame of the dropped rows: row, kept_row, distance in bits, and similarity.
            rows: The given DataFrame and a column row, in which decisions count. If it has such a column itself, that is
                called row_.
            stats: A dict of numbers; see Stats.
        """

        decisions: DataFrame
        rows: DataFrame
        stats: Stats

else:
    Deduplicated = DataFrame


@checked
def dedup(
    df: DataFrame, *, text: str | None = None, threshold: Share = 0.74, k: Distance | None = None, keep: OneOrMany[str] = "first",
    join: Literal["auto", "one", "shuffle"] = "auto", partitions: Count | None = None,
    extract: Part = "auto", recipe: Path = "minwise", max_document: Size = "64MiB", memory: Size | None = None,
) -> Deduplicated:
    """Returns a DataFrame without near-duplicates: the same columns, and the rows that ``ndd dedup`` keeps of them.

    Rows need no ID: they are numbered. Rows without a text stay. The work is done before the function returns. If the
    DataFrame does more than to read files, select and filter, then it is persisted on the disks of the executors, until
    ``clean.rows.unpersist()`` is called. Results for the same DataFrame share what is persisted. Decisions are persisted
    until ``clean.decisions.unpersist()``. Example::

        clean = ndd.spark.dedup(df, text="body", keep="longest")
        clean.write.parquet("clean")
        clean.rows.join(clean.decisions, "row").show()  # the dropped rows

    Args:
        df: A DataFrame with a column of texts.
        text: Name of the column. Default: text, content, body or similar.
        keep: The order of preference: first, longest, shortest, newest, newest:FIELD, or the name of a field whose largest
            value is kept. Several are applied in turn. Of a field, rows are sorted by it.
        join: one compares the fingerprints of all rows in one task, which needs 100 bytes of disk for each. shuffle compares
            them in all tasks, in several rounds. Their results are checkpoints: if an executor is lost, they survive only with
            ``sparkContext.setCheckpointDir``. Default: one for up to 1 billion rows.
        partitions: Number of partitions of a shuffle. Default: spark.sql.shuffle.partitions.
        recipe: Name of a recipe of fingerprints, and not a file.
        max_document: A longer text is an error. A number of bytes, or a text such as "64MiB".
        memory: Limit of a process of ndd in bytes, or as a text such as "4GiB". Default: the available memory.

    Other arguments are those of :func:`ndd.dedup`.

    Raises:
        UsageError: An argument is unknown or wrong, or there is no text column.
        NddError: ndd failed in a task, an executor has another version of ndd, or rows changed while they were read.
    """
    options = given(dedup, locals())
    orders = [word.strip() for word in (keep.split(",") if isinstance(keep, str) else keep)]
    column = _text_column(df, text)
    preferences = _preferences(df, column, orders)
    own = _free(df)
    keyed = df.withColumn(own, F.monotonically_increasing_id())
    shared = keyed.storageLevel.useDisk  # by an earlier result
    if not _is_repeatable(df):
        keyed = keyed.persist(StorageLevel.DISK_ONLY)
    try:
        job = _Job(df.sparkSession, {n: options.get(n) for n in ("threshold", "k", "memory")}, partitions)
        fields = [order for order in orders if order not in ("first", "longest", "shortest")]
        source = keyed.select(F.col(own).alias("row"), F.xxhash64(column).alias("hash"), F.coalesce(column, F.lit("")).alias("text"),
                              *(preferences if fields else []))
        if fields:  # then the first of the sorted rows is kept
            order = [n for n in source.columns if n.startswith("by")]
            source = source.orderBy(*(F.col(n).desc_nulls_last() for n in order), "row").withColumn("at", F.monotonically_increasing_id())
            source = source.select("at", "row", "hash", "text")
        reading = {n: options.get(n) for n in ("extract", "recipe", "max_document")}
        if not threshold:
            reading["sketch"] = "none"
        decided = {"keep": None if fields else ",".join(orders)}
        sizes = [tuple(part) for part in keyed.groupBy(F.shiftright(own, PARTITION)).count().collect()]
        one = join == "one" or join == "auto" and sum(size for _, size in sizes) <= ONE
        decisions, rows, empty = (job.one if one else job.shuffle)(source, reading, decided)
        if rows != sum(size for _, size in sizes):
            decisions.unpersist()
            raise NddError(CHANGED)
        dropped = decisions.count()
    except Exception as e:
        if not shared:
            keyed.unpersist()
        raise _plain(e) from e
    marks = decisions.select("row", "hash", F.lit(True)).union(decisions.select("kept_row", "kept_hash", F.lit(False)).distinct()).toDF(own, own + "hash", own + "drop")
    joined = keyed.withColumn(own + "whole", _whole(dict(sizes))(own)).join(F.broadcast(marks) if dropped < BROADCAST else marks, own, "left")
    same = F.coalesce(F.col(own + "hash") == F.xxhash64(column), F.lit(True))
    stays = F.when(~same, F.raise_error(F.lit("ndd: " + CHANGED)).cast("boolean")).otherwise(~F.coalesce(F.col(own + "drop"), F.lit(False)))
    clean = cast(Any, joined.where(F.col(own + "whole")).where(stays).drop(own, *(own + name for name in ("hash", "drop", "whole"))))
    clean.decisions, clean.rows = decisions.drop("hash", "kept_hash"), keyed.withColumnRenamed("row", "row_").withColumnRenamed(own, "row")
    clean.decisions.unpersist = decisions.unpersist
    clean.stats = {"documents": rows, "kept": rows - dropped, "dropped": dropped, "empty": empty}
    return cast("Deduplicated", clean)


def _whole(sizes: dict[int, int]) -> Any:
    """Returns a function of the numbers of rows. It is true, and raises NddError if a partition ends before or after its last row."""
    import pandas as pd

    def whole(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
        part = rows = 0
        for numbers in batches:
            part, rows = divmod(int(numbers.iloc[-1]) + 1, 1 << PARTITION)
            if rows > sizes.get(part, 0):
                break
            yield numbers >= 0
        if rows and rows != sizes.get(part):
            raise NddError(CHANGED)

    return cast(Any, F.pandas_udf)(whole, "boolean").asNondeterministic()  # so that it gets all rows, before a filter


class _Job:
    """The steps on one session."""

    def __init__(self, spark: Any, options: dict[str, Any], partitions: int | None) -> None:
        self.options, self.program = options, _ship(spark)
        self.partitions = partitions or int(spark.conf.get("spark.sql.shuffle.partitions"))
        try:
            self.checkpoints = spark.sparkContext.getCheckpointDir() is not None
        except Exception:  # of Spark Connect
            self.checkpoints = False

    def one(self, source: DataFrame, reading: dict[str, Any], decided: dict[str, Any]) -> tuple[DataFrame, int, int]:
        """Returns the decisions of one task about all fingerprints, and the numbers of rows and of empty texts."""
        program, options = self.program, {**self.options, **decided}

        def prints(batches: Any) -> Iterator[Any]:
            import pyarrow as pa
            from pyspark import TaskContext

            _use(program)
            part, counts = cast(Any, TaskContext.get()).partitionId(), [0, 0]
            for piece, (path, _) in enumerate(_steps.fingerprint(_documents(batches, counts), reading, _row)):
                for at, data in _steps.chunks(path):
                    yield pa.RecordBatch.from_pylist([{"order": f"{part:09}-{piece:06}", "at": at, "data": data, "rows": counts[0], "empty": counts[1]}])
                    counts[:] = 0, 0

        def decide(batches: Any) -> Iterator[Any]:
            _use(program)
            with tempfile.TemporaryDirectory(prefix="ndd-") as folder:
                paths = _steps.files((tuple(row.values()) for batch in batches for row in batch.to_pylist()), folder)
                yield from map(_decisions, _steps.decide(paths, options))

        parts = source.mapInArrow(prints, "order string, at long, data binary, rows long, empty long").persist(StorageLevel.DISK_ONLY)
        decisions = parts.drop("rows", "empty").repartition(1).mapInArrow(decide, DECISIONS).persist(StorageLevel.DISK_ONLY)
        try:
            rows, empty = parts.agg(F.sum("rows"), F.sum("empty")).collect()[0]
            decisions.count()
        except Exception:
            decisions.unpersist()
            raise
        finally:
            parts.unpersist()
        return decisions, rows or 0, empty or 0

    def shuffle(self, source: DataFrame, reading: dict[str, Any], decided: dict[str, Any]) -> tuple[DataFrame, int, int]:
        """Returns the same as one, by rounds of all tasks."""
        program = self.program

        def hold(data: DataFrame) -> DataFrame:
            """Computes data once. Its plan ends there: the plans of rounds would double with each of them."""
            if not self.checkpoints:
                return data.localCheckpoint()
            held = data.persist(StorageLevel.DISK_ONLY)
            safe = held.checkpoint()
            held.unpersist()
            return safe

        def prints(batches: Any) -> Iterator[Any]:
            _use(program)
            for path, _ in _steps.fingerprint(_documents(batches, [0, 0]), reading, _row, lines=True):
                with open(path, "rb") as f:
                    yield from map(_lines, _steps.chunks_of_lines(f))

        def piped(data: DataFrame, args: list[str]) -> DataFrame:
            def run(batches: Any) -> Iterator[Any]:
                _use(program)
                yield from map(_lines, _steps.piped(_contents(batches), args))

            return data.mapInArrow(run, "line string")

        def shuffled(mapper: list[str], reducer: list[str], *data: DataFrame) -> DataFrame:
            records = piped(functools.reduce(DataFrame.union, data), mapper)
            records = records.repartition(self.partitions, F.substring("line", 1, 2)).sortWithinPartitions("line")
            return hold(piped(records, reducer))

        def undecided(data: DataFrame) -> int:
            ends = data.where(F.col("line").startswith("~end")).collect()
            return sum(int(n) for row in ends for n in re.findall(r'"undecided":(\d+)', row["line"]))

        def collect(batches: Any) -> Iterator[Any]:
            _use(program)
            yield from map(_decisions, _steps.collect(_contents(batches)))

        last = _steps.rounds(shuffled, undecided, hold(source.mapInArrow(prints, "line string")), {**self.options, **decided})
        rows, empty = source.agg(F.count(F.lit(1)), F.sum((F.length("text") == 0).cast("long"))).collect()[0]
        return last.repartition(1).mapInArrow(collect, DECISIONS).persist(StorageLevel.DISK_ONLY), rows, empty or 0


def _documents(batches: Any, counts: list[int]) -> Iterator[Any]:
    """Yields batches of id and text, and counts rows and empty texts. The ID has the numbers of a row, and the hash of its text."""
    import pyarrow as pa
    pc: Any = importlib.import_module("pyarrow.compute")  # whose functions are made when it is imported

    for batch in batches:
        *numbers, texts = batch.columns
        counts[0] += len(texts)
        counts[1] += pc.sum(pc.equal(pc.binary_length(texts), 0), min_count=0).as_py()
        yield pa.record_batch([_steps.names(numbers), texts], ["id", "text"])


def _row(numbers: Any) -> str:
    """Returns where a document is, by the numbers of its name."""
    return f"row {numbers[-2]}"


def _decisions(batch: Any) -> Any:
    """Returns a batch of a table of decisions, with numbers in the place of names."""
    import pyarrow as pa

    row, kept = _steps.numbers(batch["id"], 2), _steps.numbers(batch["kept_id"], 2)
    columns = [row[:, 0], kept[:, 0], batch["distance"].cast("int32"), batch["jaccard"].cast("double"), row[:, 1], kept[:, 1]]
    return pa.record_batch([pa.array(c) for c in columns], [part.split()[0] for part in DECISIONS.split(", ")])


def _lines(chunk: bytes) -> Any:
    """Returns a batch with a row for each line of a chunk. A row has the end of its line, so that no byte is copied."""
    import numpy
    import pyarrow as pa

    ends = numpy.flatnonzero(numpy.frombuffer(chunk, "uint8") == ord("\n")) + 1
    offsets = numpy.concatenate([[0], ends]).astype("int32")
    return pa.record_batch([pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(chunk))], ["line"])


def _contents(batches: Any) -> Iterator[Any]:
    """Yields the lines of batches."""
    return (_steps.content(batch.column(0)) for batch in batches)


def _text_column(df: DataFrame, text: str | None) -> Any:
    """Returns the column of texts."""
    if not hasattr(df, "sparkSession"):
        raise UsageError(f"an object of type {type(df).__name__} is no DataFrame of Spark: ndd.dedup takes others")
    if df.isStreaming:
        raise UsageError("a streaming DataFrame has no end: use ndd.Client in foreachBatch, or give a DataFrame that is not streaming")
    rows = _sources.Rows(None, text)
    rows.choose(df.columns)
    text = _unique(df, str(rows.text))
    kind = df.schema[text].dataType.typeName()
    if kind not in ("string", "varchar", "char"):
        raise UsageError(f"the column {text!r} has values of type {kind}; text= names a column of texts")
    return F.col(_quoted(text))


def _unique(df: DataFrame, name: str) -> str:
    """Returns the name of a column. UsageError is raised if there is none, or several: Spark may not tell Text from text."""
    fold = str if df.sparkSession.conf.get("spark.sql.caseSensitive") == "true" else str.lower
    if name not in df.columns or [fold(n) for n in df.columns].count(fold(name)) > 1:
        raise UsageError(f"{'several columns' if name in df.columns else 'no column'} {name!r} among {', '.join(df.columns)}")
    return name


def _free(df: DataFrame) -> str:
    """Returns a name that no column begins with."""
    name = "__ndd_row"
    while any(column.lower().startswith(name) for column in df.columns):
        name += "_"
    return name


def _is_repeatable(df: DataFrame) -> bool:
    """Reports whether each reading has the same rows in the same order: the plan only reads files, selects and filters.

    The columns that are read must not decide which rows are malformed.
    """
    try:
        execution = cast(Any, df)._jdf.queryExecution()
        leaves = execution.analyzed().collectLeaves()
        for leaf in map(leaves.apply, range(leaves.size())):
            options = leaf.relation().options() if leaf.getClass().getSimpleName() == "LogicalRelation" else leaf.options().asCaseSensitiveMap()
            if "dropmalformed" in options.toString().lower():
                return False
        nodes = re.findall(r"^[\s:+*-]*(?:\(\d+\) )?(\w+)", execution.sparkPlan().toString(), re.M)
        return execution.analyzed().deterministic() and {"Project", "Filter", "FileScan", "BatchScan"}.issuperset(nodes)
    except Exception:  # of Spark Connect
        return False


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _preferences(df: DataFrame, text: Any, orders: list[str]) -> list[Any]:
    """Returns the columns by which rows are sorted: of each policy, the largest value first. They rank as ndd does."""
    columns: list[Any] = []
    if not all(orders or [""]):
        raise UsageError("keep has no name of an order or a column")
    for word in orders:
        if word in ("longest", "shortest"):
            length = F.octet_length(F.coalesce(text, F.lit("")))
            columns.append(length if word == "longest" else -length)
        elif word == "newest" or word.startswith("newest:"):
            named = word.partition(":")[2]
            names = [named] if named else [n for n in _sources.TIME if n in df.columns and df.schema[n].dataType.typeName() != "struct"]
            if not names:
                raise UsageError(f"keep {word!r}: no column with a date among {', '.join(df.columns)}; newest:FIELD names one")
            columns.append(F.coalesce(*(_time(df, n) for n in names)))
        elif word != "first":
            columns += _largest(df, word)
    return [column.alias(f"by{i}") for i, column in enumerate(columns)]


def _kind(df: DataFrame, name: str) -> str:
    """Returns the type of a column that rows are sorted by."""
    kind = df.schema[_unique(df, name)].dataType.typeName()
    known = "string varchar char byte short integer long float double decimal date timestamp timestamp_ntz boolean".split()
    if kind not in known:
        raise UsageError(f"keep: the column {name!r} has values of type {kind}, and not numbers, texts or dates")
    return kind


def _time(df: DataFrame, name: str) -> Any:
    """Returns a date in microseconds since 1970. A date without a zone is in UTC, whatever the zone of the session is."""
    kind, column = _kind(df, name), _quoted(name)
    since = "timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', {})"
    if kind == "timestamp":
        return F.expr(f"unix_micros({column})")
    if kind in ("date", "timestamp_ntz"):
        return F.expr(since.format(f"cast({column} as timestamp_ntz)"))
    said = F.trim(F.col(column).cast("string"))
    iso = F.regexp_replace(F.regexp_replace(said, r"^(\d{4})(\d\d)(\d\d)$", "$1-$2-$3"), r"^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$", "$1-$2-$3 $4:$5:$6")
    iso = F.when(~said.rlike(r"^[+-]?\d{5,7}$"), iso)  # of which Spark makes years
    number = F.expr(f"try_cast({column} as double)")
    unix, size = number, F.abs(number)
    for limit in (1e11, 1e14, 1e17):  # seconds, or thousandths, millionths or billionths of them
        unix = F.when(size >= limit, unix / 1000).otherwise(unix)
    zoned = said.rlike(r":.*(Z|[A-Z]{3}|[+-]\d\d:?\d\d)$")
    text = F.when(zoned, F.unix_micros(iso.try_cast("timestamp"))).otherwise(F.timestamp_diff("MICROSECOND", F.lit("1970-01-01 00:00:00").cast("timestamp_ntz"), iso.try_cast("timestamp_ntz")))
    time = F.coalesce(text, (unix * 1_000_000).cast("long"))
    unknown = F.concat(F.lit(f"ndd._errors.UsageError: keep: Spark reads no date of column {name!r}: convert it by to_timestamp: "), said)
    return F.when(said.isNotNull() & (said != "") & time.isNull(), F.raise_error(unknown).cast("long")).otherwise(time)


def _largest(df: DataFrame, name: str) -> list[Any]:
    """Returns the columns that rank the values of a column: any number is larger than any text."""
    kind, column = _kind(df, name), F.col(_quoted(name))
    if kind in ("date", "timestamp", "timestamp_ntz", "boolean"):
        return [column]
    if kind not in ("string", "varchar", "char"):
        return [F.when(~F.isnan(column), column) if kind in ("float", "double") else column]
    number = F.when(column.rlike(r"(?i)^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity)$"), column)
    return [number.cast("double"), number.try_cast("decimal(38,0)"), F.when(number.isNull(), column)]


def _ship(spark: Any) -> tuple[str, str]:
    """Sends this package and its program to the executors, once, and returns the program's name there and its version."""
    name, package, version = _packed(_binary.find_ndd())
    try:
        context = spark.sparkContext
    except Exception:  # of Spark Connect
        with contextlib.suppress(Exception):  # they are there
            spark.addArtifacts(package, pyfile=True)
            spark.addArtifacts(name, file=True)
    else:
        context.addPyFile(package)
        context.addFile(name)
    return os.path.basename(name), version


@functools.lru_cache(None)
def _packed(program: str) -> tuple[str, str, str]:
    """Returns copies of a program and of this package, which are named by their content, and the program's version."""
    folder = tempfile.mkdtemp(prefix="ndd-spark-")
    atexit.register(shutil.rmtree, folder, True)
    with open(program, "rb") as f:
        name = os.path.join(folder, "ndd-" + hashlib.sha256(f.read()).hexdigest()[:16])
    shutil.copy(program, name)
    here, package = os.path.dirname(os.path.abspath(__file__)), os.path.join(folder, f"ndd-python-{os.path.basename(name)[4:]}.zip")
    with zipfile.ZipFile(package, "w") as z:
        for file in pathlib.Path(here).glob("*.py"):
            z.write(file, f"ndd/{file.name}")
    return name, package, _binary.version(program)


def _use(program: tuple[str, str]) -> None:
    """Makes an executor use the program of the driver, or an installed one of its version."""
    from pyspark import SparkFiles  # which a client of Spark Connect does not have

    name, version = program
    _binary.use(version, "Executors of another platform than the driver's need the wheel of the same version for their platform: pack an "
                "environment with it by venv-pack, and give it by --archives", SparkFiles.get(name))


def _plain(e: Exception) -> Exception:
    """Returns the error of ndd that an error of Spark tells of, one that says what executors lack, or the error itself."""
    found = re.search(r"ndd\._errors\.(\w+): (.*?)(?: SQLSTATE|\n\s*\n|\n\s+at |\Z)", str(e), re.S)
    kind = getattr(_errors, found[1], None) if found else None
    if missing := re.search(r"ModuleNotFoundError: No module named '(pyarrow|pandas|numpy)", str(e)):
        return NddError(f"Python of the executors has no {missing[1]}: install pyarrow and pandas there, or pack an environment with them by "
                        "venv-pack, and give it by --archives")
    return kind(found[2].strip()) if found and kind else e
