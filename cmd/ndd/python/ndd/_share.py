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
    digest, encode = Digest(), json.JSONEncoder(ensure_ascii=False).encode

    def lines():
        for text, id in documents:
            line = utf8(encode({"id": f"{share} {digest.count} {name(id)}", "text": text or ""}) + "\n")
            digest.add(text or "")
            yield line

    flags = _process.flags({**options, "input_format": "jsonl", "text": "text", "id": "id", "output": path})
    _, messages = _process.run(["fingerprint", *flags, "--", "-"], lines=lines())
    return digest, _process.skipped(messages)


def decide(paths, options):
    """Compares all shares in one process. Yields a pyarrow Table of the dropped documents of each share, in order of rows.

    Paths has the files of all shares, in order. Options are flags of ``ndd dedup``. The columns are row, id, kept_share,
    kept_row, kept_id, distance and similarity.
    """
    import pyarrow
    import pyarrow.dataset as ds

    with tempfile.TemporaryDirectory(prefix="ndd-") as folder:
        to, parts = os.path.join(folder, "result"), os.path.join(folder, "parts")
        flags = _process.flags({**options, "format": "parquet", "output": to})
        _, messages = _process.run(["dedup", *flags, "--", *paths])
        if not os.path.isdir(to):
            raise NddError(messages[-1] if messages else "nothing was written")
        batches = _batches(os.path.join(to, "dropped.parquet"))
        ds.write_dataset(pyarrow.RecordBatchReader.from_batches(_schema(True), batches), parts, format="feather", partitioning=["share"],
                         max_partitions=len(paths) + 1)
        for share in range(len(paths)):
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
    import pyarrow.parquet as pq

    def columns(ids):
        parts = pc.split_pattern(ids, " ", max_splits=2)
        return [pc.list_element(parts, i).cast(kind) for i, kind in enumerate([pa.int32(), pa.int64(), pa.string()])]

    for batch in pq.ParquetFile(path).iter_batches(ROWS):
        likeness = [batch["distance"].cast(pa.int64()), batch["jaccard"].cast(pa.float64())]
        yield pa.record_batch([*columns(batch["id"]), *columns(batch["kept_id"]), *likeness], _schema(True))
