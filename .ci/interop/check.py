"""What ndd writes is read by other programs, and equals the input less the dropped rows.

    check.py NDD FOLDER     runs the program NDD in the empty FOLDER

Inputs are made, and copies and tables read, by pyarrow, DuckDB and warcio.
"""
import datetime
import decimal
import io
import json
import os
import subprocess
import sys

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

ndd, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
os.chdir(folder)


def run(*args):
    subprocess.run([ndd, *args], check=True)


def text(i):
    """Every third document has the text of the first."""
    if i % 3 == 0:
        i = 0
    return " ".join(f"Sentence {i * 31 + j} of document {i} is about {i * i + j * 7919} and {j * j + i}." for j in range(12))


def dropped(result):
    rows = duckdb.sql(f"select id from read_parquet('{result}/dropped.parquet')").fetchall()
    assert len(rows) == 99 // 3, len(rows)
    return {row[0] for row in rows}


rows = 100
table = pa.table({
    "id": [f"doc-{i}" for i in range(rows)],
    "when": pa.array([datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=i) for i in range(rows)], pa.timestamp("us", tz="UTC")),
    "price": pa.array([None if i % 5 == 0 else decimal.Decimal(i) / 4 for i in range(rows)], pa.decimal128(9, 2)),
    "tags": pa.array([None if i % 7 == 0 else [str(j) for j in range(i % 4)] for i in range(rows)], pa.list_(pa.string())),
    "meta": pa.array([{"lang": "en", "size": i} for i in range(rows)], pa.struct([("lang", pa.string()), ("size", pa.int16())])),
    "kind": pa.array(["a" if i % 2 else "b" for i in range(rows)]).dictionary_encode(),
    "raw": pa.array([bytes([i, 0, 255]) for i in range(rows)], pa.binary()),
    "score": pa.array([i / 8 for i in range(rows)], pa.float32()),
    "text": [text(i) for i in range(rows)],
})

# Parquet of pyarrow, in each compression, with several row groups and both versions of pages.
for compression in ["none", "snappy", "gzip", "zstd", "brotli", "lz4"]:
    for version in ["1.0", "2.0"]:
        name = f"{compression}-{version}"
        os.mkdir(name)
        pq.write_table(table, f"{name}/t.parquet", compression=compression, row_group_size=33, data_page_version=version)
        run("dedup", "-q", "-k", "0", "--format", "parquet", "-o", f"{name}-out", "--write-kept", f"{name}-kept", name)
        gone = dropped(f"{name}-out")
        kept = pq.read_table(f"{name}-kept/t.parquet")
        want = pq.read_table(f"{name}/t.parquet").filter(pa.array([i not in gone for i in table["id"].to_pylist()]))
        assert kept.schema == want.schema, (name, kept.schema, want.schema)
        assert kept.to_pylist() == want.to_pylist(), name
        before = pq.ParquetFile(f"{name}/t.parquet").metadata.row_group(0)
        after = pq.ParquetFile(f"{name}-kept/t.parquet").metadata.row_group(0)
        for column in range(before.num_columns):
            assert before.column(column).compression == after.column(column).compression, (name, column)
        assert duckdb.sql(f"select count(*), sum(meta.size) from '{name}-kept/t.parquet'").fetchall()[0] == (len(kept), sum(m["size"] for m in want["meta"].to_pylist()))

# Parquet of DuckDB.
os.mkdir("duck")
texts = pa.table({"id": list(range(rows)), "text": [text(i) for i in range(rows)]})
duckdb.sql("copy (select id, 'name ' || id as name, text, {'a': id, 'b': [id, id + 1]} as nested from texts) to 'duck/d.parquet' (format parquet, row_group_size 2048)")
run("dedup", "-q", "-k", "0", "--format", "parquet", "-o", "duck-out", "--write-kept", "duck-kept", "duck")
gone = dropped("duck-out")
assert duckdb.sql("select * from 'duck-kept/d.parquet'").fetchall() == [r for r in duckdb.sql("select * from 'duck/d.parquet'").fetchall() if str(r[0]) not in gone]

# Tables have names in every format.
for suffix in ["parquet", "tsv", "jsonl"]:
    run("dedup", "-q", "-k", "0", "--format", suffix, "-o", f"tables-{suffix}", "duck")
    read = {"parquet": "read_parquet('{}')", "tsv": "read_csv('{}', delim='\t', header=true, quote='')", "jsonl": "read_json('{}')"}[suffix]
    got = duckdb.sql("select id, kept_id, distance, file, row, kept_file, kept_row from " + read.format(f"tables-{suffix}/dropped.{suffix}") + " order by row").fetchall()
    assert [str(r[0]) for r in got] == [str(i) for i in range(3, 100, 3)] and all(str(r[1]) == "0" and r[2] == 0 and r[3] == "duck/d.parquet" and r[6] == 1 for r in got), (suffix, got[:3])
    assert [r[4] for r in got] == [i + 1 for i in range(3, 100, 3)], suffix

# WARC of warcio: each record a gzip member, before and after.
os.mkdir("warc")
with open("warc/w.warc.gz", "wb") as out:
    writer = WARCWriter(out, gzip=True)
    writer.write_record(writer.create_warcinfo_record("w.warc.gz", {"software": "warcio"}))
    for i in range(rows):
        headers = StatusAndHeaders("200 OK", [("Content-Type", "text/plain; charset=utf-8")], protocol="HTTP/1.1")
        writer.write_record(writer.create_warc_record(f"http://example.org/{i}", "response", payload=io.BytesIO(text(i).encode()), http_headers=headers))


def records(path):
    with open(path, "rb") as f:
        return [(r.rec_type, r.rec_headers.headers, r.content_stream().read()) for r in ArchiveIterator(f)]


run("dedup", "-q", "-k", "0", "--format", "parquet", "-o", "warc-out", "--write-kept", "warc-kept", "warc")
gone = dropped("warc-out")
want = [r for r in records("warc/w.warc.gz") if dict(r[1]).get("WARC-Target-URI") not in gone]
assert records("warc-kept/w.warc.gz") == want and len(want) == 1 + rows - len(gone)

# JSON lines.
os.mkdir("lines")
with open("lines/l.jsonl", "w") as out:
    for i in range(rows):
        out.write(json.dumps({"id": i, "text": text(i), "more": [i, None, {"a": 1.5}]}) + "\n")
run("dedup", "-q", "-k", "0", "--format", "parquet", "-o", "lines-out", "--write-kept", "lines-kept", "lines")
gone = dropped("lines-out")
with open("lines/l.jsonl") as before, open("lines-kept/l.jsonl") as after:
    assert after.readlines() == [line for line in before if str(json.loads(line)["id"]) not in gone]

print("copies and tables are read by pyarrow, DuckDB and warcio")
