"""Deduplication in steps for frameworks that move data between machines: Spark and Ray.

    names and texts --fingerprint--> .ndf files --decide, in one task--> table of decisions
    names and texts --fingerprint--> lines --rounds, of maps, shuffles and reduces--> lines --collect--> table of decisions

Each step is a function of one task. It runs ndd on files in a temporary folder, and depends on its input only, so a
framework may repeat it at any time. A document's name is the numbers that identify it, in hexadecimal digits.
"""
import os
import re
import tempfile

from . import _process
from ._errors import NddError

PIECE = 256 << 20  # bytes of texts that one process reads
CHUNK = 32 << 10  # bytes of a file in one value: frameworks put thousands of values into one batch
LINES = 1 << 20  # bytes of lines that are read at a time
DIGITS = 16  # of a number in a name


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


def fingerprint(batches, command, output, options):
    """Yields the path of a file with fingerprints for each piece of the batches, which are tables of id and text.

    The file is removed when the next one is asked for. Command is fingerprint or mapreduce map fingerprint, and output
    says whether it writes a file itself.
    """
    import pyarrow.parquet

    batches = iter(batches)
    batch = next(batches, None)
    while batch is not None:
        with tempfile.TemporaryDirectory(prefix="ndd-") as folder:
            documents, prints, size = os.path.join(folder, "documents.parquet"), os.path.join(folder, "prints.ndf"), 0
            with pyarrow.parquet.ParquetWriter(documents, batch.schema, compression="none", use_dictionary=False, write_statistics=False) as writer:
                while batch is not None and size < PIECE:
                    writer.write_batch(batch)
                    size += batch.nbytes
                    batch = next(batches, None)
            flags = _process.flags({**options, "text": "text", "id": "id", "input_format": "parquet", "threads": 1})
            try:
                if output:
                    _process.run([*command, *flags, "-o", prints, documents], whole=True)
                else:
                    with open(prints, "wb") as f:
                        _process.run([*command, *flags, "--max-bad=0", documents], stdout=f, whole=True)
            except NddError as e:
                ids = pyarrow.parquet.read_table(documents, columns=["id"])["id"]
                row = lambda m: f"row {numbers(ids.slice(int(m[1]) - 1, 1), 2)[0, 0]}"  # noqa: E731
                raise type(e)(re.sub(re.escape(documents) + r":(\d+)", row, str(e))) from None
            yield prints


def chunks(path):
    """Yields the content of a file in chunks, each with the place where it begins."""
    with open(path, "rb") as f:
        while data := f.read(CHUNK):
            yield f.tell() - len(data), data


def decide(parts, options):
    """Yields batches of decisions about fingerprint files. Parts yields chunks: order, place and content.

    The order is a text that sorts the files. Chunks may come in any order, and several times. If one is missing, the
    checksums of a file tell it.
    """
    import pyarrow.parquet

    with tempfile.TemporaryDirectory(prefix="ndd-") as folder:
        paths, result = set(), os.path.join(folder, "result")
        for order, at, data in parts:
            path = os.path.join(folder, f"{order}.ndf")
            with open(path, "r+b" if path in paths else "wb") as f:
                f.seek(at)
                f.write(data)
            paths.add(path)
        if paths:
            _process.run(["dedup", *_process.flags({**options, "output": result, "format": "parquet"}), "--", *sorted(paths)], whole=True)
            with pyarrow.parquet.ParquetFile(os.path.join(result, "dropped.parquet")) as table:
                yield from table.iter_batches(columns=["id", "kept_id", "distance", "jaccard"])


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


MAP, REDUCE, COLLECT = ["mapreduce", "map"], ["mapreduce", "reduce"], ["mapreduce", "collect", "dedup"]
