"""What documents can be taken from. Libraries are told by the module of a value's type: none is imported for it."""
import itertools
import json
import os

from ._errors import UsageError

LINES = 1024  # that are encoded at a time


def source(of, text, id, fields):
    """Returns the Source for files, a table, a frame, a dataset or an iterable of texts."""
    if isinstance(of, (str, os.PathLike)):
        return Files([of])
    if isinstance(of, (list, tuple)) and of and all(isinstance(x, os.PathLike) for x in of):
        return Files(of)
    library = type(of).__module__.partition(".")[0]
    kind = {"pyarrow": Arrow, "pandas": Pandas, "polars": Polars, "datasets": Dataset}.get(library)
    if kind is None:
        return Texts(of, text or "text", id, fields)
    names = kind.names(of)
    text = text or next((n for n in ("text", "content", "body") if n in names), None)
    for name in [text, id, *fields]:
        if name is not None and name not in names or name is text is None:
            raise UsageError(f"no column {name or 'text'!r} among {', '.join(map(str, names))}" + ("; text= names the column with the texts" if name is text else ""))
    return kind(of, text, id, fields)


class Files:
    """Files, folders, patterns and s3:// addresses, which ndd reads itself."""

    def __init__(self, paths):
        self.inputs = [os.fspath(p) for p in paths]


class Rows:
    """Documents of this process: rows gives them in order, take gives a selection of the same kind."""

    def __init__(self, of, text, id=None, fields=()):
        self.of, self.text, self.id, self.fields, self.count = of, text, id, list(fields), 0

    def columns(self):
        """Returns the names of the columns that ndd gets."""
        return list(dict.fromkeys([self.text, *self.fields, *([self.id] if self.id else [])]))

    def batches(self):
        """Yields lists of columns, in the order of columns()."""
        raise NotImplementedError

    def feed(self, step=lambda n: None):
        """Yields the documents as lines of JSON. A row's number, from 0, is its id where no column is."""
        names, encode = self.columns(), json.JSONEncoder(ensure_ascii=False, default=str).encode
        self.count = 0
        for batch in self.batches():
            lines = []
            for row in zip(*batch):
                record = {self.text: "" if row[0] is None else row[0]}
                record.update((n, v) for n, v in zip(names[1:], row[1:]) if v is not None)
                if self.id is None:
                    record["ndd_row"] = str(self.count + len(lines))
                lines.append(encode(record))
            lines.append("")
            self.count += len(lines) - 1
            yield utf8("\n".join(lines))
            step(len(lines) - 1)

    def tables(self):
        """Yields the columns as pyarrow Tables of one schema."""
        import pyarrow

        for batch in self.batches():
            yield pyarrow.table([strings(column) for column in batch], self.columns())

    def spool(self, folder, step=lambda n: None):
        """Writes the documents to a file in a folder and returns its path.

        It is Parquet where pyarrow is installed, which ndd reads three times as fast as Python encodes JSON.
        """
        if self.typed():
            try:
                return self.parquet(os.path.join(folder, "documents.parquet"), step)
            except Mixed:
                pass
        path = os.path.join(folder, "documents.jsonl")
        with open(path, "wb") as f:
            f.writelines(self.feed(step))
        return path

    def typed(self):
        """Reports whether tables() is to be used: JSON keeps numbers and texts of one field apart."""
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            return False
        return True

    def parquet(self, path, step):
        import pyarrow
        import pyarrow.parquet

        writer, self.count = None, 0
        try:
            for table in self.tables():
                columns = [plain(table.column(name), name == self.text) for name in self.columns()]
                names = self.columns()
                if self.id is None:
                    columns.append(pyarrow.array(range(self.count, self.count + len(table))).cast(pyarrow.string()))
                    names.append("ndd_row")
                table = pyarrow.table(columns, names)
                if writer is None:
                    writer = pyarrow.parquet.ParquetWriter(path, table.schema, compression="none", use_dictionary=False)
                writer.write_table(table)
                self.count += len(table)
                step(len(table))
            if writer is None:
                raise Mixed
        finally:
            if writer is not None:
                writer.close()
        return path

    def arguments(self):
        return [f"--text={self.text}", f"--id={self.id or 'ndd_row'}"]

    def take(self, rows):
        raise NotImplementedError


class Mixed(Exception):
    """Rows that make no table: there are none, or a column has values of several types."""


def strings(values):
    """Returns a pyarrow array of texts."""
    import pyarrow

    try:
        return pyarrow.array(values, pyarrow.large_string())
    except (pyarrow.ArrowException, UnicodeEncodeError):
        return pyarrow.array([None if v is None else utf8(str(v)).decode() for v in values], pyarrow.large_string())


def plain(column, text):
    """Returns a column as one that ndd compares: texts, of which none is missing, and numbers or texts."""
    import pyarrow.compute

    kind = column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
    string = pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind) or pyarrow.types.is_string_view(kind)
    if text and not string and not pyarrow.types.is_null(kind):
        raise UsageError(f"the column with the texts has values of type {kind}; text= names another")
    if string or not (pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)):
        column = column.cast(pyarrow.large_string())
    return pyarrow.compute.fill_null(column, "") if text else column


def utf8(text):
    """Returns the bytes of a text. A lone surrogate, which no UTF-8 has, becomes U+FFFD: only the comparison sees it."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def at_a_time(items, n=LINES):
    it = iter(items)
    while chunk := list(itertools.islice(it, n)):
        yield chunk


class Texts(Rows):
    """An iterable of texts, or of dicts, of which one field is the text."""

    def batches(self):
        names = self.columns()
        for at, chunk in enumerate(at_a_time(self.of)):
            if at == 0 and all(isinstance(x, str) and len(x) < 4096 and os.path.exists(x) for x in chunk[:8]):
                raise UsageError(f"{chunk[0]!r} is the name of a file: give names of files as pathlib.Path")
            if isinstance(chunk[0], dict):
                yield [[row.get(name) for row in chunk] for name in names]
            elif len(names) > 1:
                raise UsageError(f"texts have no field {names[1]!r}: give dicts")
            else:
                for i, x in enumerate(chunk):
                    if not (x is None or isinstance(x, str)):
                        raise UsageError(f"item {at * LINES + i} is neither a text nor a dict, but {type(x).__name__}")
                yield [chunk]

    def typed(self):
        return not self.fields and super().typed()

    def take(self, rows):
        if iter(self.of) is self.of:
            raise UsageError("the texts were of an iterator, which gives them once: select by result.kept, or give a list")
        if hasattr(self.of, "__getitem__"):
            return [self.of[i] for i in rows]
        wanted = set(rows)
        return [x for i, x in enumerate(self.of) if i in wanted]


class Arrow(Rows):
    """A pyarrow Table."""

    @staticmethod
    def names(of):
        if not hasattr(of, "to_batches"):
            raise UsageError(f"{type(of).__name__} of pyarrow: give a Table")
        return of.column_names

    def batches(self):
        for batch in self.of.select(self.columns()).to_batches(max_chunksize=LINES):
            yield [column.to_pylist() for column in batch.columns]

    def tables(self):
        import pyarrow

        for batch in self.of.select(self.columns()).to_batches(max_chunksize=4 * LINES):
            yield pyarrow.Table.from_batches([batch])

    def take(self, rows):
        import pyarrow

        return self.of.take(pyarrow.array(rows, pyarrow.int64()))


class Pandas(Rows):
    """A pandas DataFrame."""

    @staticmethod
    def names(of):
        if not hasattr(of, "columns"):
            raise UsageError(f"{type(of).__name__} of pandas: give a DataFrame, or a list")
        return list(of.columns)

    def batches(self):
        for at in range(0, len(self.of), LINES):
            part = self.of.iloc[at : at + LINES]
            yield [part[n].astype(object).where(part[n].notna(), None).tolist() for n in self.columns()]

    def tables(self):
        import pyarrow

        try:
            table = pyarrow.Table.from_pandas(self.of[self.columns()], preserve_index=False)
        except (pyarrow.ArrowException, UnicodeEncodeError) as e:
            raise Mixed from e
        return Arrow(table, self.text, self.id, self.fields).tables()

    def take(self, rows):
        return self.of.iloc[rows]


class Polars(Rows):
    """A polars DataFrame."""

    @staticmethod
    def names(of):
        if not hasattr(of, "iter_slices"):
            raise UsageError(f"{type(of).__name__} of polars: collect it to a DataFrame first")
        return of.columns

    def batches(self):
        for part in self.of.select(self.columns()).iter_slices(LINES):
            yield [c.to_list() for c in part.get_columns()]

    def tables(self):
        for part in self.of.select(self.columns()).iter_slices(4 * LINES):
            yield part.to_arrow()

    def take(self, rows):
        return self.of[rows]


class Dataset(Rows):
    """A datasets.Dataset of Hugging Face."""

    @staticmethod
    def names(of):
        if not hasattr(of, "select"):
            raise UsageError(f"{type(of).__name__} of datasets: give one Dataset, such as ds['train']")
        return of.column_names

    def batches(self):
        names = self.columns()
        for batch in self.of.select_columns(names).with_format("arrow").iter(batch_size=LINES):
            yield [batch.column(n).to_pylist() for n in names]

    def tables(self):
        return self.of.select_columns(self.columns()).with_format("arrow").iter(batch_size=LINES)

    def take(self, rows):
        return self.of.select(rows)
