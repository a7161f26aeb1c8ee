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

    def arguments(self):
        return ["--input-format=jsonl", f"--text={self.text}", f"--id={self.id or 'ndd_row'}"]

    def take(self, rows):
        raise NotImplementedError


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

    def take(self, rows):
        return self.of.select(rows)
