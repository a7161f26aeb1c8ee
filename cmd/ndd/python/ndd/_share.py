"""Shares of documents, on any number of machines: a file of fingerprints of each share, and one join of all.

A share is a sequence of documents, such as the input of a task. The file of a share has a fingerprint, a sketch, a hash of
the text and an ID of each document. The ID begins with the share and the row of the document in it, from 0. So rows that ndd
skips move no others.
"""
import hashlib
import json
import os
import tempfile

from . import _process
from ._errors import NddError
from ._sources import utf8

ID = 1000  # characters of an ID: a longer one is cut
ROWS = 1 << 16  # rows of a table that are in memory at a time


class Digest:
    """The number and a hash of the texts of a share. A second reading must have the same."""

    def __init__(self):
        self.count, self.hash = 0, hashlib.blake2b(digest_size=16)

    def add(self, text):
        data = utf8(text)
        self.hash.update(len(data).to_bytes(8, "little") + data)
        self.count += 1

    def __str__(self):
        return f"{self.count}-{self.hash.hexdigest()}"


def name(id):
    """Returns an ID as decisions have it."""
    return utf8(str(id)[:ID]).decode()


def fingerprint(path, share, documents, options):
    """Writes the file of a share by its number, and returns the digest of its texts and how many documents ndd skipped.

    Documents are pairs of a text, which may be None, and an ID. Options are flags of ``ndd fingerprint``.
    """
    return _fingerprint(["fingerprint", f"--output={path}"], share, documents, options)


def lines(path, share, documents, options):
    """Writes the lines that jobs of ``ndd mapreduce`` begin with. A document that ndd would skip is an error."""
    with open(path, "wb") as f:
        return _fingerprint(["mapreduce", "map", "fingerprint", "--max-bad=0"], share, documents, options, stdout=f)


def _fingerprint(command, share, documents, options, **streams):
    digest, encode = Digest(), json.JSONEncoder(ensure_ascii=False).encode

    def lines():
        for text, id in documents:
            line = utf8(encode({"id": f"{share:07} {digest.count:011} {name(id)}", "text": text or ""}) + "\n")  # jobs order them by the ID
            digest.add(text or "")
            yield line

    flags = _process.flags({**options, "input_format": "jsonl", "text": "text", "id": "id"})
    _, messages = _process.run([*command, *flags, *([] if streams else ["--", "-"])], lines=lines(), **streams)
    return digest, _process.skipped(messages)


def decide(paths, options):
    """Compares all shares in one process. Yields a pyarrow Table of the dropped documents of each share, in order of rows.

    Paths has the files of all shares, in order. Options are flags of ``ndd dedup``. The columns are row, id, kept_share,
    kept_row, kept_id, distance and similarity.
    """
    with tempfile.TemporaryDirectory(prefix="ndd-") as folder:
        to = os.path.join(folder, "result")
        flags = _process.flags({**options, "format": "parquet", "output": to})
        _, messages = _process.run(["dedup", *flags, "--", *paths])
        if not os.path.isdir(to):
            raise NddError(messages[-1] if messages else "nothing was written")
        yield from divide(os.path.join(to, "dropped.parquet"), len(paths))


def divide(path, shares):
    """Yields a table of each share, as decide does, by the table dropped of ndd, which may be of lines with tabs."""
    import pyarrow
    import pyarrow.dataset as ds

    with tempfile.TemporaryDirectory(prefix="ndd-") as parts:
        batches = pyarrow.RecordBatchReader.from_batches(_schema(True), _batches(path))
        ds.write_dataset(batches, parts, format="feather", partitioning=["share"], max_partitions=shares + 1, existing_data_behavior="overwrite_or_ignore")
        for share in range(shares):
            part = os.path.join(parts, str(share))
            yield ds.dataset(part, format="feather").to_table().sort_by("row") if os.path.isdir(part) else _schema().empty_table()


def _schema(shares=False):
    import pyarrow as pa

    columns = [("row", pa.int64()), ("id", pa.string()), ("kept_share", pa.int32()), ("kept_row", pa.int64()), ("kept_id", pa.string()),
               ("distance", pa.int64()), ("similarity", pa.float64())]
    return pa.schema([("share", pa.int32())] * shares + columns)


def _batches(path):
    """Yields the rows of a table of ndd dedup, with the parts of each ID as columns."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv
    import pyarrow.parquet as pq

    def columns(ids):
        parts = pc.split_pattern(ids, " ", max_splits=2)
        return [pc.list_element(parts, i).cast(kind) for i, kind in enumerate([pa.int32(), pa.int64(), pa.string()])]

    if path.endswith(".tsv"):
        kinds = pyarrow.csv.ConvertOptions(column_types={"id": pa.string(), "kept_id": pa.string(), "jaccard": pa.float64()})
        batches = pyarrow.csv.open_csv(path, parse_options=pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False), convert_options=kinds)
    else:
        batches = pq.ParquetFile(path).iter_batches(ROWS)
    for batch in batches:
        likeness = [batch["distance"].cast(pa.int64()), batch["jaccard"].cast(pa.float64())]
        yield pa.record_batch([*columns(batch["id"]), *columns(batch["kept_id"]), *likeness], _schema(True))
