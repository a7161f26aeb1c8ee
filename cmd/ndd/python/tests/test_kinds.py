"""Every kind of object comes in, and the same kind comes back, with the caller's rows and IDs."""
import datetime
import json
import logging
import os
import pathlib

import pytest

import ndd
from conftest import KEPT, check, list_of, text

pa = pytest.importorskip("pyarrow")
IDS = [7000 + i for i in range(60)]


def generator(items):
    yield from items


class Capsule:
    """A table of another library, which exports an Arrow stream and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def pandas(table):
    return pytest.importorskip("pandas").DataFrame(table.to_pydict(), index=range(100, 160))


def polars(table):
    return pytest.importorskip("polars").from_arrow(table)


def hugging_face(table):
    return pytest.importorskip("datasets").Dataset.from_dict(table.to_pydict())


def duckdb(table):
    connection = pytest.importorskip("duckdb").connect()
    connection.register("pages", table)
    return connection.table("pages")


TABLES = {
    "Table": lambda t: t,
    "Table of chunks": lambda t: pa.concat_tables([t.slice(0, 7), t.slice(7)]),
    "RecordBatch": lambda t: t.combine_chunks().to_batches()[0],
    "RecordBatchReader": lambda t: t.to_reader(7),
    "pyarrow dataset": lambda t: pytest.importorskip("pyarrow.dataset").dataset(t),
    "pandas DataFrame": pandas,
    "polars DataFrame": polars,
    "LazyFrame": lambda t: polars(t).lazy(),
    "datasets.Dataset": hugging_face,
    "shuffled and sorted": lambda t: hugging_face(t).shuffle(seed=1).sort("n"),
    "IterableDataset": lambda t: hugging_face(t).to_iterable_dataset(),
    "DuckDB relation": duckdb,
    "list of dicts": lambda t: t.to_pylist(),
    "generator of dicts": lambda t: generator(t.to_pylist()),
}
COLUMNS = {
    "Array": lambda t: t["text"].combine_chunks(),
    "ChunkedArray": lambda t: t["text"],
    "pandas Series": lambda t: pandas(t)["text"],
    "polars Series": lambda t: polars(t)["text"],
    "list": lambda t: t["text"].to_pylist(),
    "tuple": lambda t: tuple(t["text"].to_pylist()),
    "numpy": lambda t: pytest.importorskip("numpy").array(t["text"].to_pylist()),
    "generator": lambda t: generator(t["text"].to_pylist()),
}


@pytest.fixture
def table(texts):
    return pa.table({"n": range(60), "uri": IDS, "text": texts})


@pytest.mark.parametrize("kind", TABLES)
def test_tables(table, kind):
    of = TABLES[kind](table)
    result = ndd.dedup(of)
    check(result, IDS)
    clean = result.filter()
    assert type(clean) is type(of)
    again = ndd.dedup(clean, keep="n")
    assert again.stats["documents"] == 40 and again.stats["dropped"] == 0
    if "generator" not in kind and "Reader" not in kind:  # they are read once
        assert ndd.fingerprint(clean).count() == 40


def test_rows_of_what_comes_back(table):
    assert ndd.dedup(table).filter().equals(table.take(KEPT))
    frame = ndd.dedup(pandas(table)).filter()
    assert frame["n"].tolist() == KEPT and frame.index[2] == 103
    assert ndd.dedup(polars(table)).filter()["n"].to_list() == KEPT
    assert ndd.dedup(polars(table).lazy()).filter().collect()["n"].to_list() == KEPT
    assert list(ndd.dedup(hugging_face(table)).filter()["n"]) == KEPT
    assert [row["n"] for row in ndd.dedup(hugging_face(table).to_iterable_dataset()).filter()] == KEPT
    assert [row[0] for row in ndd.dedup(duckdb(table)).filter().fetchall()] == KEPT
    assert ndd.dedup(table.to_reader(7)).filter().read_all()["n"].to_pylist() == KEPT
    assert [row["n"] for row in ndd.dedup(generator(table.to_pylist())).filter()] == KEPT
    assert ndd.dedup(Capsule(table)).filter()["n"].to_pylist() == KEPT  # unknown libraries get a pyarrow Table


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns(table, kind):
    of = COLUMNS[kind](table)
    result = ndd.dedup(of)
    check(result)
    clean = result.filter()
    assert type(clean) is type(of) and [str(x) for x in clean] == [table["text"][i].as_py() for i in KEPT]


@pytest.mark.parametrize("ids", [
    [bytes([200, i]) for i in range(60)], [[i] for i in range(60)], [{"page": i} for i in range(60)], [2**64 - 1 - i for i in range(60)],
    [datetime.datetime(2024, 1, 1, i % 24, i) for i in range(60)], [None] * 60, pa.array([f"u{i}" for i in range(60)]).dictionary_encode(),
], ids=["binary", "lists", "structs", "uint64", "dates", "nulls", "dictionary"])
def test_ids_of_every_type(texts, ids):
    array = ids if isinstance(ids, pa.Array) else pa.array(ids, pa.uint64() if isinstance(ids[0], int) else None)
    check(ndd.dedup(pa.table({"text": texts, "id": array})), array.to_pylist())


def test_categories(texts):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    check(ndd.dedup(pl.Series(texts, dtype=pl.Categorical)))
    check(ndd.dedup(pd.Series(pd.Categorical(texts))))


def test_splits(table):
    datasets = pytest.importorskip("datasets")
    splits = datasets.DatasetDict({"train": hugging_face(table), "test": hugging_face(table.slice(3, 10))})
    result = ndd.dedup(splits)
    assert result.kept == {"train": KEPT, "test": []} and result.stats["documents"] == 70
    dropped = sorted((r for r in list_of(result.dropped) if r["split"] == "test"), key=lambda r: r["row"])
    assert [(r["row"], r["id"], r["kept_split"], r["kept_id"]) for r in dropped[:2]] == [(0, 7003, "train", 7003), (1, 7004, "train", 7004)]
    clean = result.filter()
    assert type(clean) is datasets.DatasetDict and clean["train"].num_rows == 40 and clean["test"].num_rows == 0
    pairs = ndd.copies(splits.select_columns(["text"]), method="shingles")
    odd = datasets.DatasetDict({"a b/c": splits["train"], "none": splits["train"].select([])})
    assert ndd.dedup(odd).kept == {"a b/c": KEPT, "none": []}
    with pytest.raises(ndd.UsageError, match="empty"):
        ndd.dedup(datasets.DatasetDict({}))
    assert {"train:0", "test:0"} <= set(pairs["id_a"].to_pylist() + pairs["id_b"].to_pylist())


@pytest.fixture
def file(texts, tmp_path):
    path = tmp_path / "in" / "a.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in enumerate(texts)))
    return path


@pytest.mark.parametrize("of, copy", [(str, "clean/a.jsonl"), (pathlib.Path, "clean/a.jsonl"), (lambda p: [p], ["clean/a.jsonl"]),
                                      (lambda p: p.parent, "clean"), (lambda p: str(p.parent / "*.jsonl"), "clean")])
def test_files(file, tmp_path, of, copy):
    of, folder = of(file), tmp_path / "clean"
    result = ndd.dedup(of, write_kept=folder)
    assert result.stats["dropped"] == 20 and len(result.kept) == 40
    clean = result.filter()
    kind = type(of[0]) if isinstance(of, list) else type(of)
    assert clean == ([kind(tmp_path / c) for c in copy] if isinstance(copy, list) else kind(tmp_path / copy)) and type(clean) is type(of)
    assert sorted(os.listdir(folder)) == [".ndd-output", "a.jsonl"]  # and nothing else is written
    assert [json.loads(line)["id"] for line in open(folder / "a.jsonl")] == KEPT
    assert ndd.dedup(clean).stats["documents"] == 40
    with pytest.raises(ndd.UsageError, match="write_kept"):
        ndd.dedup(of).filter()


@pytest.mark.parametrize("of, said", [
    ("A text and no path", "'A text and no path': no such file or folder"),
    ("What is this?", "give texts as a list"),
    ("word " * 5000, "word word.*give texts as a list"),
    ({"text": "a"}, "type dict is neither"),
    (b"bytes", "type bytes is neither"),
    (7, "an object of type int holds no documents"),
    ([1, 2], "item 0 .* but a int"),
    (["a text", {"text": "b"}], "item 1 .* but a dict"),
    ([__file__], "pathlib"),
    ([os.path.dirname(__file__) + "/*.py"], "pathlib"),
    (pa.Table.from_arrays([pa.array(["a"])] * 2, names=["text", "text"]), "several columns 'text'"),
    (pa.table({"text": [1]}), "values of type int64"),
])
def test_no_documents(of, said):
    with pytest.raises(ndd.UsageError, match=said):
        ndd.dedup(of)


def test_iterators_that_change_their_types(texts):
    documents = [{"id": i if i < 30 else str(i), "text": t} for i, t in enumerate(texts)] * 100  # more than one chunk
    result = ndd.dedup(d for d in documents)
    assert result.kept == KEPT and len(list(result.filter())) == 40 and result.stats["documents"] == 6000
    assert [d["id"] for d in result.filter()] == [documents[i]["id"] for i in KEPT]
    frame = pandas(pa.table({"n": range(60), "text": texts}))
    frame["id"] = frame["n"].astype(object).where(frame["n"] % 2 == 0, "odd")
    frame.loc[105, "text"] = None
    mixed = ndd.dedup(frame)
    assert mixed.stats["documents"] == 60 and mixed.stats["short"] == 1 and {r["kept_id"] for r in list_of(mixed.dropped)} == {"odd", *map(str, range(0, 60, 6))}
    series = frame["text"].where(frame["n"] != 7, 3.5)
    with pytest.raises(ndd.NddError):
        ndd.dedup(series, strict=True)


@pytest.mark.parametrize("error", [ValueError, pa.ArrowInvalid, KeyError, UnicodeEncodeError])
def test_errors_of_iterators(texts, error):
    def broken():
        yield from texts * 100
        raise error("utf-8", "", 0, 1, "broken") if error is UnicodeEncodeError else error("broken")

    with pytest.raises(error, match="broken"):  # and not a result of the texts before
        ndd.dedup(broken())
    if error is not UnicodeEncodeError:
        batches = (b if i < 3 else next(x for x in broken() if x is None) for i, b in enumerate(pa.table({"text": texts}).to_batches(7)))
        with pytest.raises(Exception, match="broken"):
            ndd.dedup(pa.RecordBatchReader.from_batches(pa.schema([("text", pa.string())]), batches))


@pytest.mark.parametrize("kind", ["Table", "pandas DataFrame", "polars DataFrame", "list of dicts"])
def test_newest_finds_dates(texts, kind):
    days = [datetime.datetime(2024, 1, 1) + datetime.timedelta(i) for i in range(60)]
    newest = [i for i in range(60) if i % 3 != 0]
    assert ndd.dedup(TABLES[kind](pa.table({"n": range(60), "text": texts, "crawl_date": days})), keep="newest").kept == newest
    nested = pa.table({"text": texts, "metadata": [{"date": str(d), "no": 1} for d in days]})
    assert ndd.dedup(nested, keep=["newest", "longest"]).kept == newest


def test_stats(texts, tmp_path, caplog):
    result = ndd.dedup([*texts, "short", "short", "", texts[0], texts[0] + "!"])
    assert set(result.stats) == set(ndd.Stats.__annotations__)
    stats = {name: n for name, n in result.stats.items() if name != "messages"}
    assert stats == {"documents": 65, "kept": 42, "dropped": 23, "clusters": 20, "equal": 2, "short": 3, "skipped": 0}
    file = tmp_path / "in.jsonl"
    file.write_text(json.dumps({"text": texts[0]}) + "\n" + '{"text": "broken\n' * 30)
    with caplog.at_level(logging.INFO, "ndd"):
        assert ndd.dedup(file).stats["skipped"] == 30
    said = [r.message for r in caplog.records]
    assert len([m for m in said if m.startswith("skipped")]) == 1 and said.count("done in part: some input was skipped or left out") == 1


def test_messages_name_rows(texts, caplog):
    with caplog.at_level(logging.INFO, "ndd"):
        ndd.dedup([*texts, text(1, 30_000)], max_document=100_000)
    assert "skipped row 60: too large" in caplog.text and "/ndd-" not in caplog.text


def test_report_has_no_temporary_paths(texts, tmp_path):
    page = ndd.dedup([{"id": f"page {i}", "text": t} for i, t in enumerate(texts)]).report(tmp_path / "report")
    html = pathlib.Path(page).read_text()
    assert "page 2" in html and "Clusters by size" in html and "/ndd-" not in html
