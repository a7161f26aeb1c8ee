"""Deduplication in steps, for frameworks that move data between machines: Spark, Ray and datatrove.

    documents --fingerprint--> .ndf files --decide, in one task--> decisions
    documents --fingerprint--> lines --rounds, of maps, shuffles and reduces--> lines --collect--> decisions

Each step is a function of one task. It runs ndd on files in a temporary folder, and depends on its input only, so a
framework may repeat it at any time. A document's name begins with the numbers that identify it, in hexadecimal digits.
Decisions are batches of names: id, kept_id, distance and jaccard.
"""
import hashlib
import json
import os
import re
import tempfile

from . import _process
from ._errors import NddError
from ._sources import utf8

PIECE = 256 << 20  # bytes of texts that one process reads
CHUNK = 32 << 10  # bytes of a file in one value: frameworks put thousands of values into one batch
LINES = 1 << 20  # bytes of lines that are read at a time
DIGITS = 16  # of a number in a name
ID = 1000  # characters of an ID: a longer one is cut
MAP, REDUCE = ["mapreduce", "map"], ["mapreduce", "reduce"]
FOUND = ["id", "kept_id", "distance", "jaccard"]


def names(columns):
    """Returns an array of the names that columns of integers make. Names are in order of their numbers from 0."""
    import numpy
    import pyarrow

    width = DIGITS * len(columns)
    digits = numpy.column_stack([numpy.asarray(c) for c in columns]).astype(">i8").tobytes().hex().encode()
    ends = numpy.arange(0, len(digits) + 1, width, dtype="int64")
    return pyarrow.LargeStringArray.from_buffers(len(ends) - 1, pyarrow.py_buffer(ends), pyarrow.py_buffer(digits))


def numbers(column, count):
    """Returns the last numbers of names, as an array with a column for each."""
    import numpy

    rows = numpy.frombuffer(bytes.fromhex("".join(column.to_pylist())), ">i8").astype("int64")
    return rows.reshape(len(column), -1)[:, -count:] if len(column) else rows.reshape(0, count)


def content(column):
    """Returns the bytes of all texts of an array."""
    import pyarrow

    column = column.cast(pyarrow.large_binary())
    ends = memoryview(column.buffers()[1]).cast("q")
    return memoryview(column.buffers()[2] or b"")[ends[column.offset] : ends[column.offset + len(column)]]


class Digest:
    """The number and a hash of texts. A second reading must have the same."""

    def __init__(self):
        self.count, self.hash = 0, hashlib.blake2b(digest_size=16)

    def add(self, text):
        data = utf8(text)
        self.hash.update(len(data).to_bytes(8, "little") + data)
        self.count += 1

    def __str__(self):
        return f"{self.count}-{self.hash.hexdigest()}"


def fingerprint(batches, options, place, lines=False, whole=True):
    """Yields a file of each piece of some batches, which are tables of id and text, and how many documents ndd skipped.

    The file is removed when the next one is asked for. It is one of fingerprints, or lines for rounds. Whole says that a
    document that ndd would skip is an error, in which place(numbers) says where it is.
    """
    import pyarrow.parquet

    batches = iter(batches)
    batch = next(batches, None)
    while batch is not None:
        with tempfile.TemporaryDirectory(prefix="ndd-") as folder:
            documents, prints, text = (os.path.join(folder, name) for name in ("documents.parquet", "prints.ndf", "lines"))
            size = 0
            with pyarrow.parquet.ParquetWriter(documents, batch.schema, compression="none", use_dictionary=False, write_statistics=False) as writer:
                while batch is not None and size < PIECE:
                    writer.write_batch(batch)
                    size += batch.nbytes
                    batch = next(batches, None)
            flags = _process.flags({**options, "text": "text", "id": "id", "input_format": "parquet", "threads": 1})
            command = [*MAP, "fingerprint", "--max-bad=0"] if lines else ["fingerprint", f"--output={prints}"]
            try:
                with open(text, "wb") as f:
                    _, messages = _process.run([*command, *flags, documents], stdout=f, whole=whole)
            except NddError as e:
                ids = pyarrow.parquet.read_table(documents, columns=["id"])["id"]
                row = lambda m: place(numbers(ids.slice(int(m[1]) - 1, 1), 2)[0])  # noqa: E731
                raise type(e)(re.sub(re.escape(documents) + r":(\d+)", row, str(e))) from None
            yield text if lines else prints, _process.skipped(messages)


def stream(path, share, documents, options):
    """Writes the fingerprints of a share by its number, and returns the digest of its texts and how many documents ndd skipped.

    Documents are pairs of a text, which may be None, and an ID, which stays in the names. Options are flags of ``ndd fingerprint``.
    """
    digest, encode = Digest(), json.JSONEncoder(ensure_ascii=False).encode

    def lines():
        for text, id in documents:
            line = utf8(encode({"id": f"{share:016x}{digest.count:016x} {cut(id)}", "text": text or ""}) + "\n")
            digest.add(text or "")
            yield line

    flags = _process.flags({**options, "output": path, "input_format": "jsonl", "text": "text", "id": "id"})
    _, messages = _process.run(["fingerprint", *flags, "--", "-"], lines=lines())
    return digest, _process.skipped(messages)


def cut(id):
    """Returns an ID as names have it."""
    return utf8(str(id)[:ID]).decode()


def chunks(path):
    """Yields the content of a file in chunks, each with the place where it begins."""
    with open(path, "rb") as f:
        while data := f.read(CHUNK):
            yield f.tell() - len(data), data


def files(parts, folder):
    """Writes the fingerprint files of parts to a folder, and returns their paths in order. Parts yields order, place and content.

    The order is a text that sorts the files. Chunks may come in any order, and several times. If one is missing, the
    checksums of a file tell it.
    """
    paths = set()
    for order, at, data in parts:
        path = os.path.join(folder, f"{order}.ndf")
        with open(path, "r+b" if path in paths else "wb") as f:
            f.seek(at)
            f.write(data)
        paths.add(path)
    return sorted(paths)


def decide(paths, options):
    """Yields batches of decisions about fingerprint files, in order. Options are flags of ``ndd dedup``."""
    import pyarrow.parquet

    if not paths:
        return
    with tempfile.TemporaryDirectory(prefix="ndd-") as folder:
        result = os.path.join(folder, "result")
        _process.run(["dedup", *_process.flags({**options, "output": result, "format": "parquet"}), "--", *paths], whole=True)
        with pyarrow.parquet.ParquetFile(os.path.join(result, "dropped.parquet")) as table:
            yield from table.iter_batches(columns=FOUND)


def collect(lines):
    """Yields batches of decisions by the lines of the last round, which are chunks of bytes."""
    import pyarrow.csv

    with tempfile.TemporaryFile(prefix="ndd-") as table:
        table.writelines(piped(lines, ["mapreduce", "collect", "dedup"]))
        table.seek(0)
        kinds = pyarrow.csv.ConvertOptions(column_types={"id": "string", "kept_id": "string", "jaccard": "double"}, include_columns=FOUND)
        yield from pyarrow.csv.open_csv(table, parse_options=pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False), convert_options=kinds)


def divide(batches, shares):
    """Yields a pyarrow Table of the decisions about each share, in order of rows. A name has a share, a row and maybe an ID.

    The columns are row, id, kept_share, kept_row, kept_id, distance and similarity.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    kinds = {"share": pa.int32(), "row": pa.int64(), "id": pa.string(), "kept_share": pa.int32(), "kept_row": pa.int64(), "kept_id": pa.string(),
             "distance": pa.int64(), "similarity": pa.float64()}
    schema = pa.schema(kinds.items())

    def columns(batch):
        for ids in batch["id"], batch["kept_id"]:
            yield from numbers(pc.utf8_slice_codeunits(ids, 0, 2 * DIGITS), 2).T
            yield pc.utf8_slice_codeunits(ids, 2 * DIGITS + 1)
        yield from (batch["distance"], batch["jaccard"])

    found = (pa.record_batch([pa.array(c).cast(kind) for c, kind in zip(columns(batch), schema.types)], schema) for batch in batches)
    with tempfile.TemporaryDirectory(prefix="ndd-") as parts:
        ds.write_dataset(pa.RecordBatchReader.from_batches(schema, found), parts, format="feather", partitioning=["share"], max_partitions=shares + 1,
                         existing_data_behavior="overwrite_or_ignore")
        for share in range(shares):
            part = os.path.join(parts, str(share))
            yield ds.dataset(part, format="feather").to_table().sort_by("row") if os.path.isdir(part) else schema.remove(0).empty_table()


def piped(lines, args):
    """Yields what a command makes of lines, which are chunks of bytes: chunks of whole lines."""
    with tempfile.TemporaryFile(prefix="ndd-") as out:
        _process.run(args, lines=lines, stdout=out, whole=True)
        out.seek(0)
        yield from chunks_of_lines(out)


def chunks_of_lines(file):
    """Yields the content of a file in chunks that end with a line."""
    while chunk := file.read(LINES):
        yield chunk + file.readline()


def rounds(shuffle, undecided, prints, options):
    """Runs the rounds of the job dedup over lines of fingerprints, and returns the lines of the last round.

    Shuffle(map, reduce, *data) runs two commands on data of the framework, with a shuffle between them. Undecided(data)
    returns the number of documents that another round decides about.
    """
    threshold, k = options.get("threshold"), options.get("k")
    keep = _process.flags({"keep": options.get("keep")})
    near = [*_process.flags({"threshold": threshold, "k": 3 if threshold == 0 and k is None else k}), "--most=1"]
    documents = shuffle([*MAP, "dedup", *keep], [*REDUCE, "dedup"], prints)
    while undecided(documents):
        pairs = shuffle([*MAP, "pairs", *near], [*REDUCE, "pairs", *near], documents)
        documents = shuffle([*MAP, "dedup"], [*REDUCE, "dedup"], documents, pairs)
    return documents
