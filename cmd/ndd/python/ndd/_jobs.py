import io
import json
import os
import tempfile
from typing import Any, Generic, Literal, TypedDict, TypeVar, cast

from . import _process, _sources
from ._arguments import Count, Distance, Format, OneOrMany, Part, Path, Share, Size, checked, given
from ._errors import NddError, UsageError
from ._tables import column, own, read

T = TypeVar("T")
Table = Any  # a pyarrow Table, or a list of dicts where pyarrow is not installed


class Stats(TypedDict):
    """The numbers of a deduplication."""

    documents: int  # that were read
    kept: int
    dropped: int
    clusters: int  # groups of near-duplicates
    equal: int  # dropped documents with the same text as the one kept
    short: int  # documents too short for a fingerprint: they are compared for equality only
    skipped: int  # inputs that could not be read, which messages name
    messages: list[str]  # what ndd said


@checked
def dedup(
    of: T, *, text: str | None = None, id: str | None = None,
    threshold: Share = 0.74, k: Distance | None = None, verify: str = "sketch", same_url: bool | str = False,
    against: OneOrMany[Path] | None = None,
    keep: OneOrMany[str] = "first", source: str | None = None, prefer: OneOrMany[str] | None = None,
    protect: OneOrMany[str] | None = None, max_drop: Share | OneOrMany[str] | None = None,
    write_kept: Path | None = None, annotate: Path | None = None, report: Path | None = None, force: bool = False,
    input_format: Format = "auto", extract: Part = "auto", recipe: Path = "minwise",
    max_document: Size = "64MiB", strict: bool = False,
    memory: Size | None = None, work: Path | None = None, threads: Count | None = None, progress: bool = True,
) -> "Result[T]":
    """Finds near-duplicate documents.

    Example::

        result = ndd.dedup(table, text="body", id="url", keep=["newest", "longest"])
        clean = result.filter()

    Args:
        of: A table, a column, a dataset, a list or iterator of texts or dicts, or a path, folder or glob. A list of paths
            has objects of pathlib.
        text: Name of the column or field with the text. Default: text, content, body or similar.
        id: Name of the column or field with the ID. Default: id, url or similar; else the row.
        threshold: Minimum similarity, 0 to 1: the Jaccard similarity of the texts, as sketches estimate it. 0 does not verify.
        k: Maximum Hamming distance of fingerprints in bits, 0 to 8. Default: 8, or 3 for input without sketches.
        verify: How pairs are verified: sketch, text, exact for equal texts only, or a rule such as "jaccard>=0.8" or
            "contained>=1".
        same_url: First remove documents with the same canonical URL, of the field url or of the one named.
        against: Indexes and fingerprint files: first remove documents near the ones in there.
        keep: The order of preference: first, longest, shortest, newest, newest:FIELD, source, or the name of a field whose
            largest value is kept. Several are applied in turn.
        source: Name of the field with a document's source. Default: the file.
        prefer: Sources whose documents are kept before those of others, the best first.
        protect: Sources or files whose documents are never removed.
        max_drop: A share such as 0.6, or texts such as "60%" or "web=60%". If more would be removed, NddError is raised.
        write_kept: New folder for copies of the files without the duplicates.
        annotate: New folder for copies of the files with the decisions as fields.
        report: New folder for a page of HTML with examples.
        force: Replace an earlier output of ndd.
        input_format: Format of files.
        extract: Part of an HTML page that is compared.
        recipe: Recipe of fingerprints: minwise, minwise-pairs, simhash or a file.
        max_document: Longer documents are skipped. A number of bytes, or a text such as "64MiB".
        strict: Fail at input that cannot be read, instead of skipping it.
        memory: Limit in bytes, or as a text such as "4GiB". Default: the available memory.
        work: Folder in which an interrupted run over files continues.
        threads: Number of threads. Default: all processors.
        progress: Show a bar of tqdm, if it is installed.

    Raises:
        UsageError: An argument is unknown or wrong, or there is no text column.
        CorruptError: A file or index is damaged.
        NddError: The input cannot be read, or max_drop is exceeded.
    """
    options = given(dedup, locals())
    for name in ("keep", "prefer"):
        if isinstance(options.get(name), (list, tuple)):
            options[name] = ",".join(map(str, options[name]))
    if isinstance(max_drop, (int, float)):
        options["max_drop"] = f"{100 * max_drop:g}%"
    orders = [word.strip() for word in str(options.get("keep", "first")).split(",")]
    fields = [word.removeprefix("newest:") for word in orders if word not in ("first", "longest", "shortest", "newest", "source")]
    fields += [source] if source else []
    fields += ["url" if same_url is True else cast(str, same_url)] if same_url else []
    documents = _documents(of, text, id, options, fields, _sources.TIME if "newest" in orders else [])
    with tempfile.TemporaryDirectory(prefix="ndd-") as folder:
        to = os.path.join(folder, "result")
        paths = _paths(documents, folder, progress)
        _, messages = _run("dedup", documents, paths, text, id, {**options, "output": to, "format": _extension()})
        if not os.path.isdir(to):
            raise NddError(messages[-1] if messages else "nothing was written")
        tables = {name: own(read(os.path.join(to, f"{name}.{_extension()}")), paths) for name in ("clusters", "dropped", "kept", "sources")}
    return Result(documents, tables, messages, {"text": text, "id": id, **options})


class Result(Generic[T]):
    """What a deduplication found.

    Attributes:
        dropped: A table of the dropped documents: row, id, kept_row, kept_id, distance in bits, and jaccard. The rows
            of objects of Python count from 0, and IDs are those of the object. The rows of files count as
            ``ndd help formats`` says.
        clusters: A table of the groups of near-duplicates.
        kept: The kept rows of an object, from 0, in order; for a dict of datasets a dict; for files a table.
        sources: A table of what was read, dropped and kept of each source.
        stats: A dict of numbers; see Stats.
    """

    clusters: Table
    dropped: Table
    sources: Table
    kept: Any
    stats: Stats

    def __init__(self, documents: Any, tables: dict[str, Table], messages: list[str], options: dict[str, Any]) -> None:
        self._documents, self._options = documents, options
        self.clusters, self.dropped, self.sources = tables["clusters"], tables["dropped"], tables["sources"]
        rows = column(self.dropped, "row")
        if isinstance(documents, _sources.Files):
            self.kept, count = tables["kept"], len(tables["kept"]) + len(rows)
        elif isinstance(documents, _sources.Splits):
            splits = column(self.dropped, "split")
            self.kept = {name: part.kept(row for row, split in zip(rows, splits) if split == name) for name, part in documents.splits.items()}
            count = documents.count
        else:
            self.kept, count = documents.kept(rows), documents.count
        said = "\n".join(messages).replace(",", "")
        self.stats = {
            "documents": count, "kept": count - len(rows), "dropped": len(rows), "clusters": len(set(column(self.clusters, "cluster"))),
            "equal": _process.number(r"(\d+)(?: documents?)? with the (?:same text as|text of)", said),
            "short": _process.number(r"too short for a fingerprint: (\d+)", said),
            "skipped": _process.skipped(messages),
            "messages": messages,
        }

    def __repr__(self) -> str:
        return "<ndd.Result: {documents:,} documents, {dropped:,} dropped in {clusters:,} clusters>".format(**self.stats)

    def filter(self) -> T:
        """Returns the documents without the dropped ones, as the kind of object that was given.

        For files they are the copies of write_kept: a path for a path, a folder for a folder or glob, a list for a list.

        Raises:
            UsageError: Files were given without write_kept.
        """
        if not isinstance(self._documents, _sources.Files):
            return cast(T, self._documents.take(self.kept))
        if not self._options.get("write_kept"):
            raise UsageError("of files, filter returns the copies of dedup(..., write_kept=FOLDER)")
        return cast(T, self._documents.take(self._options["write_kept"]))

    def report(self, folder: Path) -> str:
        """Writes a report as a page of HTML into a new folder, and returns the path of the page. It compares again."""
        options = {k: v for k, v in self._options.items() if k not in ("text", "id", "write_kept", "report", "annotate")}
        text, id = self._options["text"], self._options["id"]
        page = os.path.join(folder, "index.html")
        with tempfile.TemporaryDirectory(prefix="ndd-") as spool:
            paths = _paths(self._documents, spool, False)
            _run("dedup", self._documents, paths, text, id, {**options, "report": os.fspath(folder)})
            if paths:
                with open(page, encoding="utf-8") as f:
                    html = f.read().replace(spool + os.sep, "")
                with open(page, "w", encoding="utf-8") as f:
                    f.write(html)
        return page


@checked
def fingerprint(
    of: Any, *, text: str | None = None, id: str | None = None, input_format: Format = "auto", extract: Part = "auto",
    recipe: Path = "minwise", max_document: Size = "64MiB", strict: bool = False,
    threads: Count | None = None, progress: bool = True,
) -> Any:
    """Returns the 64-bit fingerprints of documents, in order, as a masked numpy array of uint64.

    Documents too short for a fingerprint are masked. Arguments and errors are those of :func:`dedup`. Example::

        prints = ndd.fingerprint(texts, recipe="simhash")
        prints.mask.sum()  # texts that are too short
    """
    import numpy

    options = given(fingerprint, locals())
    documents = _documents(of, text, id, options)
    with tempfile.TemporaryDirectory(prefix="ndd-") as folder:
        paths = _paths(documents, folder, progress)
        out, _ = _run("fingerprint", documents, paths, text, id, options)
    words = [line[:16] for line in out.splitlines()]
    short = [w[:1] == b"-" for w in words]
    values = [0 if s else int(w, 16) for w, s in zip(words, short)]
    return numpy.ma.array(numpy.array(values, numpy.uint64), mask=short)


@checked
def copies(
    of: Any, *, text: str | None = None, id: str | None = None, method: Literal["auto", "spotsigs", "ccdet", "winnow", "shingles"] = "auto",
    threshold: Share | None = None, method_file: Path | None = None, against: OneOrMany[Path] | None = None,
    skipped: Path | None = None, force: bool = False, input_format: Format = "auto", extract: Part = "auto",
    max_document: Size = "64MiB", strict: bool = False, memory: Size | None = None, threads: Count | None = None, progress: bool = True,
) -> Table:
    """Returns the pairs of documents that have much of their text in common, as a whole or in part, as a table.

    The columns are those of ``ndd copies --help``. IDs are those of dedup: the caller's, or rows from 0. Example::

        pairs = ndd.copies(texts, method="winnow", threshold=0.8)

    Args:
        method: How documents are compared. auto chooses by language.
        threshold: Lowest score of a pair, 0 to 1. Default: that of the method.
        method_file: File of settings of the method.
        against: Signature files: documents are compared with those, not with each other.
        skipped: Table of skipped input to write: .tsv, .jsonl or .parquet.

    Other arguments and errors are those of :func:`dedup`.
    """
    return _rows("copies", of, text, id, progress, given(copies, locals()))


@checked
def passages(
    of: Any, *, text: str | None = None, id: str | None = None, unit: str | None = None, bytes: Count | None = None, words: Count | None = None,
    ignore: OneOrMany[str] | None = None, min_chars: Count = 20, cut: Literal["chars", "words"] = "chars", min_count: Count = 2,
    across_only: bool = False, strike_all: bool = False, max_share: Share = 0, over: Literal["keep", "drop"] = "keep",
    write_kept: Path | None = None, annotate: Path | None = None, skipped: Path | None = None, force: bool = False,
    input_format: Format = "auto", extract: Part = "auto", max_document: Size = "64MiB", strict: bool = False,
    memory: Size | None = None, work: Path | None = None, threads: Count | None = None, progress: bool = True,
) -> Table:
    """Returns the parts of documents that also occur elsewhere among them, as a table.

    Give one of unit, bytes and words. The columns are those of ``ndd passages --help``, and rows and IDs are those of
    dedup. Example::

        lines = ndd.passages(table, unit="line", min_chars=40)

    Args:
        unit: Compare each "line" or "paragraph", or "sentences=3" in a row.
        bytes: Compare strings of at least so many bytes, 16 to 1048576.
        words: Compare strings of at least so many words, 3 to 131072.
        ignore: What is ignored: markup, and in units wrap, case, space, digits; or none. Default: by unit. Nothing with bytes.
        min_chars: Units with fewer characters are ignored.
        cut: Strings begin and end with whole chars or words.
        min_count: Least number of places of a part.
        across_only: Leave repetition within one document alone.
        strike_all: Also remove the first place.
        max_share: Maximum share of a document to remove, 0 to 1. 0 is no limit.
        over: What becomes of documents beyond max_share.
        write_kept: New folder for copies of the files without the repeated parts.
        annotate: New folder for copies of the files with fields that list the repeated parts.
        skipped: Table of skipped input to write: .tsv, .jsonl or .parquet.

    Other arguments and errors are those of :func:`dedup`.
    """
    return _rows("passages", of, text, id, progress, given(passages, locals()))


@checked
def decontaminate(
    of: Any, evals: OneOrMany[Path], *, text: str | None = None, id: str | None = None, question: str | None = None, answer: str | None = None,
    min_words: Count = 5, threshold: Share = 0.8, common: Count = 100, sets: Path | None = None,
    write_kept: Path | None = None, annotate: Path | None = None, skipped: Path | None = None, force: bool = False,
    input_format: Format = "auto", extract: Part = "auto", max_document: Size = "64MiB", strict: bool = False,
    memory: Size | None = None, work: Path | None = None, threads: Count | None = None, progress: bool = True,
) -> Table:
    """Returns which documents hold items of evaluations, such as test questions, as a table.

    It has a row for each document and item. The columns are those of ``ndd decontaminate --help``, and rows and IDs are
    those of dedup. Example::

        hits = ndd.decontaminate(dataset, "evals/", question="prompt")

    Args:
        evals: Files, folders or globs with the items.
        question: Name of the field with the question. Default: question, prompt or similar.
        answer: Name of the field with the answer. Default: answer, solution or similar.
        min_words: Items with fewer words are left out.
        threshold: Least score of a hit, 0 to 1: the share of an item's words.
        common: Words of at least so many documents have the lowest weight.
        sets: Table of the sets of items to write: .tsv, .jsonl or .parquet.
        write_kept: New folder for copies of the files without the documents that have hits.
        annotate: New folder for copies of the files with fields that list the hits.
        skipped: Table of skipped input to write: .tsv, .jsonl or .parquet.

    Other arguments and errors are those of :func:`dedup`.
    """
    items: Any = evals if isinstance(evals, (list, tuple)) else [evals]
    return _rows("decontaminate", of, text, id, progress, {**given(decontaminate, locals()), "evals": items})


def _rows(command: str, of: Any, text: str | None, id: str | None, progress: bool, options: dict[str, Any]) -> Table:
    """Runs a command that writes one table, and returns it."""
    documents = _documents(of, text, id, options)
    with tempfile.TemporaryDirectory(prefix="ndd-") as folder:
        path, paths = os.path.join(folder, f"rows.{_extension()}"), _paths(documents, folder, progress)
        _run(command, documents, paths, text, id, {**options, "output": path, "format": _extension()})
        return own(read(path), paths)


def _documents(of: Any, text: str | None, id: str | None, options: dict[str, Any], fields: Any = (), optional: Any = ()) -> Any:
    """Returns the source of documents, and refuses options that are for files if it is an object of Python."""
    documents = _sources.source(of, text, id, fields, optional)
    if not isinstance(documents, _sources.Files):
        for name in ("write_kept", "annotate", "input_format", "raw", "work"):
            if options.get(name):
                raise UsageError(f"{name} is for files" + ("; filter() returns the kept documents" if name == "write_kept" else ""))
    return documents


def _paths(documents: Any, folder: str, progress: bool) -> dict[str, Any]:
    """Writes documents of this process to files in a folder, and returns their paths and what they have."""
    if isinstance(documents, _sources.Files):
        return {}
    bar = _bar(documents.of, progress)
    try:
        return cast("dict[str, Any]", documents.parts(folder, bar.update if bar is not None else lambda n: None))
    finally:
        if bar is not None:
            bar.close()


def _run(command: str, documents: Any, paths: dict[str, Any], text: str | None, id: str | None, options: dict[str, Any]) -> tuple[bytes, list[str]]:
    """Runs a command on documents, and returns its output and messages."""
    if paths:
        part = next(iter(paths.values()))
        text, id = part.text, None if command == "copies" else part.named  # its table has no rows: IDs tell them
    args = [command, *_process.flags({**options, "text": text, "id": id})]
    return _process.run([*args, "--", *(paths or documents.inputs)], paths)


def _bar(of: Any, progress: bool) -> Any:
    """Returns a progress bar of tqdm, or None."""
    if not progress:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=len(of) if hasattr(of, "__len__") and not isinstance(of, dict) else None, unit=" documents", desc="ndd", disable=None)


def _extension() -> str:
    """Returns the format of tables: parquet where pyarrow can read it."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        return "jsonl"
    return "parquet"
