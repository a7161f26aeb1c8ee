import io
import json
import os
import tempfile

from . import _process
from ._errors import NddError, UsageError
from ._sources import Files, source


def fingerprint(of, *, text=None, id=None, progress=True, **options):
    """Returns the 64-bit fingerprints of documents, in order, as a masked numpy array of uint64.

    Documents too short for one are masked. of is as for :func:`dedup`; options are the flags of ``ndd fingerprint``.
    """
    import numpy

    out, _ = _run("fingerprint", source(of, text, id, []), text, id, progress, options)
    words = [line[:16] for line in out.splitlines()]
    short = [w[:1] == b"-" for w in words]
    values = [0 if s else int(w, 16) for w, s in zip(words, short)]
    return numpy.ma.array(numpy.array(values, numpy.uint64), mask=short)


def copies(of, *, text=None, id=None, progress=True, **options):
    """Returns the pairs of documents that have much of their text in common, as a whole or in part, as a table.

    Its columns are those of ``ndd copies --help``; without id=, documents of this process are named by their row, from 0.
    """
    extension = _extension()
    out, _ = _run("copies", source(of, text, id, []), text, id, progress, {**options, "format": extension})
    return _table(out, extension)


def passages(of, *, text=None, id=None, progress=True, **options):
    """Returns the parts of documents that stand elsewhere among them, too, as a table: repeated lines, sentences, strings.

    options are the flags of ``ndd passages``, one of unit="line", bytes=100 and words=50 among them. The columns are
    those of ``ndd passages --help``; without id=, documents of this process are named by their row, from 0.
    """
    return _rows("passages", of, text, id, progress, options)


def decontaminate(of, evals, *, text=None, id=None, progress=True, **options):
    """Returns which documents hold items of evaluations, such as test questions, as a table: a row for each of both.

    evals is a path, folder or pattern, or a list of them; options are the flags of ``ndd decontaminate``, such as
    question="prompt", threshold=0.6, sets="sets.tsv", write_kept="clean/". The columns are those of
    ``ndd decontaminate --help``; without id=, documents of this process are named by their row, from 0.
    """
    evals = [os.fspath(e) for e in (evals if isinstance(evals, (list, tuple)) else [evals])]
    return _rows("decontaminate", of, text, id, progress, {**options, "evals": evals})


def _rows(command, of, text, id, progress, options):
    """Runs a command that writes one table, and returns it."""
    for name in ("output", "format", "dry_run"):
        if name in options:
            raise UsageError(f"{name} is not for Python: the result is the table")
    documents, extension = source(of, text, id, []), _extension()
    with tempfile.TemporaryDirectory(prefix="ndd-") as folder:
        path = os.path.join(folder, f"rows.{extension}")
        _run(command, documents, text, id, progress, {**options, "output": path, "format": extension})
        return _read(path)


def dedup(of, *, text=None, id=None, progress=True, **options):
    """Finds the near-duplicates among documents and returns a :class:`Result`.

    of is a path, folder, pattern or s3:// address, a list of pathlib.Path, a pyarrow Table, a pandas or polars
    DataFrame, a datasets.Dataset, or an iterable of texts or dicts. text and id name the column or field with the text
    and the id. options are the flags of ``ndd dedup``, such as quality="fast", verify="contained>=1", keep="longest",
    against=["index", "evals.ndf"], write_kept="clean/", source="dataset", prefer=["books", "web"]. keep and prefer take
    lists; same_url=True or "field" and quality="exact" find equal URLs and texts; annotate="folder/" is
    for files. NddError is raised where max_drop= is exceeded. progress shows a bar where tqdm is installed.
    """
    for name in ("output", "format", "dry_run"):
        if name in options:
            raise UsageError(f"{name} is not for Python: the result has the tables")
    for name in ("keep", "prefer"):
        if isinstance(options.get(name), (list, tuple)):
            options[name] = ",".join(map(str, options[name]))
    fields = [name.removeprefix("newest:") for name in str(options.get("keep") or "first").split(",")]
    fields = [name for name in fields if name not in ("first", "longest", "shortest", "newest", "source")]
    fields += [options["source"]] if options.get("source") else []
    if same := options.get("same_url"):
        fields.append("url" if same is True else same)
    documents, extension = source(of, text, id, fields), _extension()
    if options.get("annotate") and not isinstance(documents, Files):
        raise UsageError("annotate is for files; what becomes of rows is in the tables of the result")
    with tempfile.TemporaryDirectory(prefix="ndd-") as folder:
        to = os.path.join(folder, "result")
        _, messages = _run("dedup", documents, text, id, progress, {**options, "output": to, "format": extension}, folder)
        if not os.path.isdir(to):
            raise NddError(messages[-1] if messages else "nothing was written")
        names = ("clusters", "dropped", "kept", "sources")
        tables = {name: _read(os.path.join(to, f"{name}.{extension}")) for name in names}
    return Result(documents, tables, messages, {"text": text, "id": id, **options})


class Result:
    """What a deduplication found.

    Attributes:
        clusters, dropped: tables with the columns that ``ndd help formats`` lists; pyarrow Tables, or lists of dicts
            where pyarrow is not installed. Rows count from 1, as in files.
        sources: a table of what was read, dropped and kept of each source.
        kept: of files, the table of kept documents; otherwise the kept rows, from 0, in order.
        stats: documents, kept, dropped, clusters: numbers; messages: what ndd said.
    """

    def __init__(self, documents, tables, messages, options):
        self._documents, self._options = documents, options
        self.clusters, self.dropped, self.sources = tables["clusters"], tables["dropped"], tables["sources"]
        dropped = len(self.dropped)
        if isinstance(documents, Files):
            self.kept, count = tables["kept"], len(tables["kept"]) + dropped
        else:
            gone, count = {row - 1 for row in _column(self.dropped, "row")}, documents.count
            self.kept = [row for row in range(count) if row not in gone]
        clusters = len(set(_column(self.clusters, "cluster")))
        self.stats = {"documents": count, "kept": count - dropped, "dropped": dropped, "clusters": clusters, "messages": messages}

    def __repr__(self):
        return "<ndd.Result: {documents:,} documents, {dropped:,} dropped in {clusters:,} clusters>".format(**self.stats)

    def filter(self):
        """Returns what was deduplicated without the dropped documents: a thing of the same kind, or a list of texts.

        Of files it raises UsageError: write_kept=FOLDER copies them.
        """
        if isinstance(self._documents, Files):
            raise UsageError("files are copied by dedup(..., write_kept=FOLDER)")
        return self._documents.take(self.kept)

    def report(self, folder):
        """Writes a report as a page of HTML into a new folder, and returns the path of the page. It compares again."""
        options = {k: v for k, v in self._options.items() if k not in ("text", "id", "write_kept", "report", "annotate")}
        _run("dedup", self._documents, self._options["text"], self._options["id"], False, {**options, "report": os.fspath(folder)})
        return os.path.join(folder, "index.html")


def _run(command, documents, text, id, progress, options, folder=None):
    """Runs a command on documents, and returns its output and messages."""
    args = [command, *_process.flags(options)]
    if isinstance(documents, Files):
        named = {"text": text, "id": id}
        return _process.run([*args, *_process.flags(named), "--", *documents.inputs])
    args += documents.arguments()
    bar = _bar(documents.of, progress)
    try:
        step = bar.update if bar is not None else lambda n: None
        alone = command != "dedup" or options.get("quality") == "fast" or "k" in options  # fingerprints, without texts
        if alone and not documents.typed() and not any(options.get(name) for name in ("verify", "report", "write_kept")):
            return _process.run([*args, "--input-format=jsonl", "-"], documents.feed(step))
        with tempfile.TemporaryDirectory(prefix="ndd-") as spool:
            return _process.run([*args, "--", documents.spool(spool, step)])
    finally:
        if bar is not None:
            bar.close()


def _bar(of, progress):
    """Returns a progress bar of tqdm, or None."""
    if not progress:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=len(of) if hasattr(of, "__len__") else None, unit=" documents", desc="ndd", disable=None)


def _extension():
    """Returns the format of tables: parquet where pyarrow can read it."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        return "jsonl"
    return "parquet"


def _read(path):
    with open(path, "rb") as f:
        return _table(f.read(), path.rpartition(".")[2])


def _table(data, extension):
    if extension == "jsonl":
        return [json.loads(line) for line in data.splitlines()]
    import pyarrow.parquet

    return pyarrow.parquet.read_table(io.BytesIO(data))


def _column(table, name):
    return [row[name] for row in table] if isinstance(table, list) else table.column(name).to_pylist()
