"""The kinds of documents: files, which ndd reads itself, and rows of this process, which it reads as a Parquet file.

Tables of any library come in by the Arrow PyCapsule interface. Libraries are told by the module of a value's type: none
is imported for it.
"""
import collections.abc
import glob
import itertools
import json
import os
import pickle
import tempfile

from ._errors import UsageError

LINES = 4096  # documents that are written at a time

# Names of fields, as engine/corpus/format and engine/near/keep have them.
TEXT = "text content body raw_content page_content document article markdown html raw_html".split()
ID = "id url uri doc_id docid document_id _id warc-record-id WARC-Record-ID".split()
TIME = """date timestamp time published published_at crawl_date crawled_at fetched_at created created_at updated updated_at
    modified last_modified WARC-Date metadata meta""".split()


def source(of, text=None, id=None, fields=(), optional=()):
    """Returns the source of documents: Files, or Rows, or Splits of several Rows.

    Fields are columns that are wanted in addition to text and ID; those that are optional may be missing.
    """
    if isinstance(of, (str, os.PathLike)):
        return Files(of, [of])
    if isinstance(of, (list, tuple)) and of and all(isinstance(x, os.PathLike) for x in of):
        return Files(of, of)
    library, kind = type(of).__module__.partition(".")[0], type(of).__name__
    if library == "datasets" and isinstance(of, dict):
        return Splits(of, {name: source(part, text, id, fields, optional) for name, part in of.items()})
    if isinstance(of, (collections.abc.Mapping, bytes)):
        raise UsageError(f"an object of type {kind} is neither a table nor a list of documents")
    if library == "datasets" and kind == "IterableDataset":
        rows = Stream
    elif library == "polars" and kind == "LazyFrame":
        rows = Lazy
    elif library in ("duckdb", "_duckdb") and hasattr(of, "columns"):  # no connection
        rows = Relation
    elif library == "pyarrow" and hasattr(of, "read_next_batch"):
        rows = Reader
    elif library == "pyarrow" and hasattr(of, "scanner"):
        rows = ArrowDataset
    elif hasattr(of, "__arrow_c_stream__") or hasattr(of, "__arrow_c_array__") or library == "datasets" and hasattr(of, "select"):
        rows = Table
    elif isinstance(of, collections.abc.Iterable):
        rows = Items
    else:
        raise UsageError(f"an object of type {kind} holds no documents: give a table, a list of texts, or paths")
    return rows(of, text, id, fields, optional)


class Files:
    """Files, folders, patterns and s3:// addresses, which ndd reads itself."""

    def __init__(self, of, paths):
        self.of, self.inputs = of, [os.fspath(p) for p in paths]
        for path in self.inputs:
            if isinstance(of, str) and not ("://" in path or os.path.lexists(path) or glob.glob(path)):
                raise UsageError(f"{path if len(path) < 60 else path[:57] + '...'!r}: no such file or folder, and no pattern that a file matches; "
                                 "give texts as a list")

    def take(self, folder):
        """Returns the copies in a folder: those of a list as a list, of a file a path, and otherwise the folder."""
        if isinstance(self.of, (list, tuple)):
            names = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name != ".ndd-output"]
            return type(self.of)(type(self.of[0])(name) for name in sorted(names))
        copy = os.path.join(folder, os.path.basename(self.inputs[0]))
        return type(self.of)(copy if os.path.isfile(self.inputs[0]) and os.path.isfile(copy) else os.fspath(folder))


class Rows:
    """Documents of this process. Subclasses give them as tables or chunks, and select from what was given."""

    def __init__(self, of, text=None, id=None, fields=(), optional=()):
        self.of, self.text, self.id, self.count, self.ids, self.split = of, text, id, 0, None, None
        self.fields, self.optional, self.why = list(fields), list(optional), None

    def choose(self, names):
        """Settles the columns for text, ID and fields among those that there are."""
        self.text = self.text or next((n for n in TEXT if n in names), None)
        if self.text is None:
            raise UsageError(f"no column {TEXT[0]!r} among {', '.join(map(str, names))}; text= names the column with the texts")
        for name in [self.text, self.id, *self.fields]:
            if name is not None and names.count(name) != 1:
                raise UsageError(f"{'several columns' if name in names else 'no column'} {name!r} among {', '.join(map(str, names))}")
        self.id = self.id or next((n for n in ID if n in names), None)
        self.fields += [n for n in self.optional if n in names]

    def columns(self):
        """Returns the names of the columns that ndd gets."""
        return list(dict.fromkeys([self.text, *self.fields, *([self.id] if self.id else [])]))

    def parts(self, folder, step):
        """Writes the documents to a file in a folder, and returns its path and what it has."""
        return {self.spool(os.path.join(folder, "documents"), step): self}

    def spool(self, path, step):
        """Writes the documents to a Parquet file, or to lines of JSON where a column has values of several types."""
        try:
            return self.parquet(path + ".parquet", step)
        except Mixed as e:
            self.why = e.__cause__
        with open(path + ".jsonl", "wb") as f:
            self.lines(f, step)
        return path + ".jsonl"

    def parquet(self, path, step):
        try:
            import pyarrow.parquet
        except ImportError as e:
            raise Mixed from e
        writer, self.count, ids = None, 0, []
        try:
            for table in self.tables():  # errors of an iterator are the caller's
                try:
                    columns = {name: plain(table.column(name)) for name in self.columns()}
                    columns[self.text] = texts(columns[self.text])
                    if self.id:
                        ids += columns[self.id].chunks
                        kind = columns[self.id].type
                        if self.id not in (self.text, *self.fields) and not (pyarrow.types.is_large_string(kind) or pyarrow.types.is_integer(kind)):
                            del columns[self.id]  # the results have it, and messages the row
                    table = pyarrow.table(columns)
                    if writer is None:
                        writer = pyarrow.parquet.ParquetWriter(path, table.schema, compression="none", use_dictionary=False)
                    writer.write_table(table)
                except UsageError:
                    raise
                except (pyarrow.ArrowException, ValueError) as e:  # such as chunks with different types
                    raise Mixed from e
                self.count += len(table)
                step(len(table))
            if writer is None:
                raise Mixed
        finally:
            if writer is not None:
                writer.close()
        self.ids = pyarrow.chunked_array(ids, kind) if self.id else None
        self.named = self.id if self.id in table.column_names else None
        return path

    def lines(self, f, step):
        """Writes lines of JSON."""
        encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
        self.count, ids = 0, []
        for records in self.records():
            names = self.columns()
            for record in records:
                line = {n: record[n] for n in names if record.get(n) is not None}
                line.setdefault(self.text, "")
                f.write(utf8(encode(line) + "\n"))
            ids += [record.get(self.id) for record in records] if self.id else []
            self.count += len(records)
            step(len(records))
        self.ids, self.named = ids if self.id else None, self.id

    def kept(self, dropped):
        """Returns the numbers of the rows that are not dropped."""
        gone = set(dropped)
        return [row for row in range(self.count) if row not in gone]


class Mixed(Exception):
    """Rows that make no table: there are none, or a column has values of several types."""


def plain(column):
    """Returns a column whose texts are of the type that all can take; others are returned as they are."""
    import pyarrow
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = pyarrow.chunked_array([plain(pyarrow.chunked_array([c.dictionary])).take(c.indices) for c in column.chunks], None)
    if types.is_string(column.type) or types.is_string_view(column.type):
        return column.cast(pyarrow.large_string())
    return column


def texts(column):
    """Returns a column of texts of which none is missing."""
    import pyarrow.compute

    if not (pyarrow.types.is_large_string(column.type) or pyarrow.types.is_null(column.type)):
        raise UsageError(f"the column with the texts has values of type {column.type}; text= names another")
    return pyarrow.compute.fill_null(column.cast(pyarrow.large_string()), "")


def utf8(text):
    """Returns the bytes of a text. A lone surrogate, which no UTF-8 has, becomes U+FFFD: only the comparison sees it."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


class Table(Rows):
    """A table or column of any library: of pyarrow, pandas, polars, datasets, or one that exports Arrow streams."""

    def __init__(self, of, text=None, id=None, fields=(), optional=()):
        super().__init__(of, text, id, fields, optional)
        try:
            import pyarrow  # noqa: F401
        except ImportError as e:
            raise UsageError(f"a {type(of).__name__} needs pyarrow: pip install pyarrow") from e
        self.data = self.open()
        names = self.names()
        self.is_column = names is None
        if self.is_column:
            self.text, names = self.text or TEXT[0], [self.text or TEXT[0]]
        self.choose(names)

    def names(self):
        """Returns the names of the columns, or None if this is a column itself."""
        for attribute in ("column_names", "columns"):
            if hasattr(self.data, attribute):
                return list(getattr(self.data, attribute))

    def open(self):
        """Returns what is read, and selected from: the same rows each time."""
        import pyarrow

        library = type(self.of).__module__.partition(".")[0]
        if library in ("pyarrow", "pandas", "polars", "datasets"):
            return self.of
        return pyarrow.table(self.of)

    def tables(self):
        import pyarrow

        data, names = self.data, self.columns()
        if hasattr(data, "select_columns"):
            yield from data.select_columns(names).with_format("arrow").iter(LINES)
            return
        try:
            if self.is_column:
                table = pyarrow.table([pyarrow.chunked_array(data if hasattr(data, "__arrow_c_stream__") else [data])], names)
            else:
                table = pyarrow.table(data.select(names) if hasattr(data, "select") else data[names])
        except (pyarrow.ArrowException, UnicodeEncodeError) as e:
            raise Mixed from e
        for batch in table.to_batches(LINES):
            yield pyarrow.Table.from_batches([batch])

    def records(self):
        """Yields lists of dicts: those of a frame of pandas whose columns have values of several types."""
        if self.why and not hasattr(self.data, "iloc"):
            raise UsageError(f"the columns {', '.join(self.columns())}: {self.why}")
        for at in range(0, len(self.data) if self.why else 0, LINES):
            part = self.data.iloc[at : at + LINES]
            part = part.to_frame(self.text) if self.is_column else part[self.columns()]
            yield part.astype(object).where(part.notna(), None).to_dict("records")

    def take(self, rows):
        import pyarrow

        if hasattr(self.data, "iloc"):
            return self.data.iloc[rows]
        if hasattr(self.data, "select_columns"):
            return self.data.select(rows)
        return self.data.take(pyarrow.array(rows, pyarrow.int64())) if hasattr(self.data, "take") else self.data[rows]


class Lazy(Table):
    """A LazyFrame of polars, which is collected once: another time its rows could have another order."""

    def open(self):
        return self.of.collect()

    def take(self, rows):
        return super().take(rows).lazy()


class Relation(Table):
    """A relation of DuckDB, which is computed once."""

    def take(self, rows):
        kept = super().take(rows)  # noqa: F841, DuckDB finds it by its name
        return self.of.query("documents", "SELECT * FROM kept")


class ArrowDataset(Table):
    """A dataset of pyarrow."""

    def names(self):
        return self.data.schema.names

    def tables(self):
        import pyarrow

        for batch in self.data.scanner(columns=self.columns(), batch_size=LINES).to_batches():
            yield pyarrow.Table.from_batches([batch])

    def take(self, rows):
        import pyarrow.dataset

        return pyarrow.dataset.dataset(super().take(rows))


class Once:
    """The chunks of an iterator. The first reading writes them to a file, from which they can be read again."""

    def __init__(self, chunks):
        self.chunks, self.file = iter(chunks), tempfile.TemporaryFile(prefix="ndd-")

    def __iter__(self):
        at = 0
        while True:
            self.file.seek(at)  # several readings may take turns
            try:
                chunk = pickle.load(self.file)
            except EOFError:
                chunk = next(self.chunks, None)
                if chunk is None:
                    return
                pickle.dump(chunk, self.file, pickle.HIGHEST_PROTOCOL)
            at = self.file.tell()
            yield chunk


class Reader(Table):
    """A RecordBatchReader of pyarrow."""

    def open(self):
        self.once = Once(self.of)
        return self.of

    def names(self):
        return self.of.schema.names

    def tables(self):
        import pyarrow

        for batch in self.once:
            yield pyarrow.Table.from_batches([batch]).select(self.columns())

    def take(self, rows):
        import pyarrow

        return pyarrow.RecordBatchReader.from_batches(self.of.schema, (batch.take(pyarrow.array(rows)) for batch, rows in some(self.once, rows)))


def some(chunks, rows):
    """Yields chunks with the places in them of some of all rows, which are in order."""
    rows, at = iter(rows), 0
    row = next(rows, None)
    for chunk in chunks:
        places = []
        while row is not None and row < at + len(chunk):
            places.append(row - at)
            row = next(rows, None)
        at += len(chunk)
        if places:
            yield chunk, places


class Items(Rows):
    """An iterable of texts, or of dicts, of which one field is the text."""

    def __init__(self, of, text=None, id=None, fields=(), optional=()):
        super().__init__(of, text, id, fields, optional)
        self.chosen = False
        self.once = Once(self.chunks(of)) if iter(of) is of else None

    @staticmethod
    def chunks(of):
        it = iter(of)
        while chunk := list(itertools.islice(it, LINES)):
            yield chunk

    def records(self):
        """Yields lists of dicts."""
        at = 0
        for chunk in self.once or self.chunks(self.of):
            first = chunk[0]
            if not self.chosen:
                self.begin(chunk)
            for i, x in enumerate(chunk):
                if not isinstance(x, type(first) if isinstance(first, dict) else (str, type(None))):
                    raise UsageError(f"item {at + i} is neither a text nor a dict as item 0 is, but a {type(x).__name__}")
            at += len(chunk)
            yield chunk if isinstance(first, dict) else [{self.text: x} for x in chunk]

    def begin(self, chunk):
        """Settles the fields by the first documents."""
        if all(isinstance(x, str) and len(x) < 4096 and (os.path.exists(x) or glob.glob(x)) for x in chunk[:8]):
            raise UsageError(f"{chunk[0]!r} is the name of a file: give names of files as pathlib.Path")
        if isinstance(chunk[0], dict):
            self.choose(list(dict.fromkeys(name for row in chunk if isinstance(row, dict) for name in row)))
        elif self.id or self.fields:
            raise UsageError(f"texts have no field {(self.id or self.fields[0])!r}: give dicts")
        self.text, self.chosen = self.text or TEXT[0], True

    def tables(self):
        import pyarrow

        for records in self.records():
            if self.fields:
                raise Mixed  # JSON keeps numbers and texts of one field apart
            try:
                columns = [pyarrow.array([r.get(name) for r in records]) for name in self.columns()]
                yield pyarrow.table([c.cast(pyarrow.large_string()) if pyarrow.types.is_string(c.type) else c for c in columns], self.columns())
            except (pyarrow.ArrowException, UnicodeEncodeError) as e:
                raise Mixed from e

    def take(self, rows):
        if self.once:
            return (chunk[i] for chunk, places in some(self.once, rows) for i in places)
        if hasattr(self.of, "take"):  # of numpy
            return self.of.take(rows)
        if hasattr(self.of, "__getitem__"):
            kept = [self.of[i] for i in rows]
        else:
            kept = [chunk[i] for chunk, places in some(self.chunks(self.of), rows) for i in places]
        return tuple(kept) if isinstance(self.of, tuple) else kept


class Stream(Items):
    """An IterableDataset of Hugging Face."""

    def take(self, rows):
        wanted = set(rows)
        return self.of.filter(lambda _, i: i in wanted, with_indices=True)


class Splits:
    """A dict of datasets."""

    def __init__(self, of, splits):
        if not splits:
            raise UsageError("the dict of datasets is empty")
        self.of, self.splits = of, splits
        for name, part in splits.items():
            part.split = name

    def parts(self, folder, step):
        return {part.spool(os.path.join(folder, f"{i}"), step): part for i, part in enumerate(self.splits.values())}

    @property
    def count(self):
        return sum(part.count for part in self.splits.values())

    def take(self, rows):
        return type(self.of)({name: part.take(rows[name]) for name, part in self.splits.items()})
