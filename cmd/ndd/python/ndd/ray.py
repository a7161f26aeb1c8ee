"""Removes near-duplicates from a Dataset of Ray Data.

    import ndd.ray
    clean = ndd.ray.dedup(ray.data.read_json("crawl"), text="text")

Each machine of the cluster needs the wheel of ndd, such as by ``ray.init(runtime_env={"pip": ["ndd-....whl"]})``.
"""
import hashlib
import importlib
import itertools
import re
import tempfile
from typing import TYPE_CHECKING, Any, Iterator, Literal, TypedDict, cast

import ray

from . import _binary, _process, _sources, _steps
from ._arguments import Distance, Part, Path, Share, Size, checked, given
from ._errors import CorruptError, NddError, UsageError

ROWS = 4096  # of a batch of texts
REMEDY = 'Install the wheel of the same version and pyarrow on each machine, such as by ray.init(runtime_env={"pip": [...]})'


class Stats(TypedDict):
    """The numbers of a deduplication."""

    documents: int  # rows
    kept: int
    dropped: int
    skipped: int  # rows that ndd could not read, such as texts beyond max_document: they stay


if TYPE_CHECKING:  # Ray does not export its types

    class Deduplicated:
        """A Dataset of Ray without near-duplicates.

        Attributes:
            decisions: A Dataset of the dropped rows: row, kept_row, distance in bits, and similarity. Rows count from 0,
                through all blocks of the given Dataset in their order.
            stats: A dict of numbers; see Stats.
        """

        decisions: Any
        stats: Stats

        def __getattr__(self, name: str) -> Any: ...

else:
    Deduplicated = ray.data.Dataset


@checked
def dedup(
    dataset: Any, *, text: str | None = None, threshold: Share = 0.74, k: Distance | None = None,
    keep: Literal["first", "longest", "shortest"] = "first", join: Literal["one", "shuffle"] = "one", extract: Part = "auto",
    recipe: Path = "minwise", max_document: Size = "64MiB", memory: Size | None = None,
) -> Deduplicated:
    """Returns a Dataset without near-duplicates: the same columns, and the rows that ``ndd dedup`` keeps of them.

    Rows need no ID: they are numbered. Rows without a text stay. The work is done before the function returns. The
    Dataset is materialized, so Ray's object store and its spill hold it and the result. Example::

        clean = ndd.ray.dedup(dataset, text="body", keep="longest")
        clean.write_parquet("clean")
        clean.decisions.show(5)

    Args:
        dataset: A Dataset with a column of texts.
        text: Name of the column. Default: text, content, body or similar.
        keep: The order of preference: first, longest or shortest. The first row is that of the first block.
        join: one compares the fingerprints of all rows in one task, which needs 100 bytes of disk for each. shuffle compares
            them in all tasks, in several rounds.
        recipe: Recipe of fingerprints: a name, or a file on each machine.
        max_document: Longer texts are skipped, and stay; to join="shuffle" they are an error. A number of bytes, or a text
            such as "64MiB".
        memory: Limit of the comparison in bytes, or as a text such as "4GiB". Default: the available memory.

    Other arguments are those of :func:`ndd.dedup`.

    Raises:
        UsageError: An argument is unknown or wrong, or there is no text column.
        CorruptError: Rows changed between two readings.
        NddError: ndd failed in a task, or a machine has no ndd or another version.
    """
    import pyarrow

    options = given(dedup, locals())
    reading: dict[str, Any] = {name: options[name] for name in ("extract", "recipe", "max_document") if name in options}
    deciding: dict[str, Any] = {name: options[name] for name in ("threshold", "k", "keep", "memory") if name in options}
    if not threshold:
        reading["sketch"] = "none"
    if not isinstance(dataset, ray.data.Dataset):
        raise UsageError(f"an object of type {type(dataset).__name__} is no Dataset of Ray: ndd.dedup takes others")
    execution = dataset.context.execution_options
    ordered, execution.preserve_order = execution.preserve_order, True  # also blocks of lazy reads, which come in any order
    try:
        held = dataset.materialize()
    finally:
        execution.preserve_order = ordered
    blocks = held.to_arrow_refs() or [ray.put(pyarrow.table({}))]
    column, parts = _sources.Rows(None, text), _run(_names, 1, [(block,) for block in blocks])
    names = dict.fromkeys(name for part in parts for name in ray.get(part[0]))
    column.choose(list(names) if names else [text or _sources.TEXT[0]])  # a Dataset without rows has no columns
    parts = _run(_fingerprint, 2, [(block, share, column.text, join == "shuffle", reading) for share, block in enumerate(blocks)])
    about = ray.get([part[1] for part in parts])
    starts = [0, *itertools.accumulate(rows for rows, _, _ in about)]
    firsts = ray.put(starts)
    dropped = (_one if join == "one" else _shuffle)([part[0] for part in parts], deciding)
    filtered = _run(_filter, 2, [(blocks[share], share, column.text, about[share][1], dropped[share], firsts) for share in range(len(blocks))])
    clean, decisions = (ray.data.from_arrow_refs([part[i] for part in filtered]) for i in range(2))
    count, skipped = decisions.count(), sum(number for _, _, number in about)
    if skipped:
        _process.log.warning("done in part: %d rows were skipped, and stay", skipped)
    result = cast(Any, clean)
    result.decisions = decisions
    result.stats = {"documents": starts[-1], "kept": starts[-1] - count, "dropped": count, "skipped": skipped}
    return cast("Deduplicated", result)


def _run(function: Any, returns: int, calls: "list[tuple[Any, ...]]") -> "list[list[Any]]":
    """Runs a task for each call, and returns the references of what each returned. Ray repeats a task whose process died."""
    task, version = ray.remote(num_returns=returns + 1, name=f"ndd{function.__name__}")(_task), _binary.version(_binary.find_ndd())
    refs = [task.remote(version, function, returns, *call) for call in calls]
    try:
        errors = ray.get([ref[-1] for ref in refs])
    except ray.exceptions.RayError as e:
        if missing := re.search(r"ip=([^),]*).*?No module named '(ndd|pyarrow|numpy)", str(e), re.S):
            raise NddError(f"the machine {missing[1]} has no Python module {missing[2]}. {REMEDY}") from e
        raise
    for error in errors:
        if error is not None:
            raise error
    return [ref[:-1] for ref in refs]


def _task(version: str, function: Any, returns: int, *arguments: Any) -> "tuple[Any, ...]":
    """Returns what a function returns, and its error of ndd in place of Ray's, which has a trace for each task."""
    try:
        _binary.use(version, REMEDY)
        return (*function(*arguments), None)
    except NddError as e:
        return (*[None] * returns, e)


def _names(block: Any) -> "list[list[str]]":
    """Returns the columns of a block."""
    return [block.column_names]


def _texts(block: Any, text: str) -> "Any":
    """Returns a column of the texts of a block. It has none if no row has that column."""
    import pyarrow

    return _sources.texts(_sources.plain(block.column(text)) if text in block.column_names else pyarrow.chunked_array([pyarrow.nulls(len(block))]))


def _digest(texts: Any) -> str:
    """Returns the number of texts, and a hash of them."""
    pc: Any = importlib.import_module("pyarrow.compute")  # whose functions are made when it is imported

    digest = hashlib.blake2b(pc.binary_length(texts).to_numpy(), digest_size=16)
    for chunk in texts.chunks:
        digest.update(_steps.content(chunk))
    return f"{len(texts)}-{digest.hexdigest()}"


def _fingerprint(block: Any, share: int, text: str, lines: bool, options: dict[str, Any]) -> tuple[list[bytes], tuple[int, str, int]]:
    """Returns the fingerprints of a block in pieces, and the number and digest of its texts, and how many were skipped."""
    import pyarrow

    texts, prints, skipped = _texts(block, text), [], 0
    table = pyarrow.table({"id": _steps.names([[share] * len(texts), range(len(texts))]), "text": texts})
    for path, missing in _steps.fingerprint(table.to_batches(ROWS), options, lambda n: f"row {n[1]} of block {n[0]}", lines, whole=lines):
        with open(path, "rb") as f:
            prints.append(f.read())
        skipped += missing
    return prints, (len(texts), _digest(texts), skipped)


def _one(prints: list[Any], options: dict[str, Any]) -> list[Any]:
    """Returns references of the dropped rows of each block, which one task decides."""
    return _run(_decide, len(prints), [(prints, options)])[0]


def _decide(prints: list[Any], options: dict[str, Any]) -> Iterator[Any]:
    """Yields the dropped rows of each block."""
    with tempfile.TemporaryDirectory(prefix="ndd-") as folder:
        pieces = ((f"{share:09}-{piece:06}", 0, data) for share, part in enumerate(prints) for piece, data in enumerate(ray.get(part)))
        yield from _steps.divide(_steps.decide(_steps.files(pieces, folder), options), len(prints))


def _shuffle(prints: list[Any], options: dict[str, Any]) -> list[Any]:
    """Returns references of the dropped rows of each block, which all tasks decide in rounds."""
    partitions = min(len(prints), 64)  # the first two characters of a key are one of 64

    def shuffled(mapper: list[str], reducer: list[str], *data: Any) -> Any:
        """Returns pairs: lines of a reduce, and the number of undecided documents."""
        parts = _run(_map, partitions, [(lines, mapper, partitions) for pairs in data for lines, _ in pairs])
        return _run(_reduce, 2, [([part[i] for part in parts], reducer) for i in range(partitions)])

    last = _steps.rounds(shuffled, lambda data: sum(ray.get([count for _, count in data])), [(part, None) for part in prints], options)
    return _run(_collect, len(prints), [([lines for lines, _ in last], len(prints))])[0]


def _map(lines: list[bytes], args: list[str], partitions: int) -> "Iterator[bytes]":
    """Yields the lines of each partition that a map makes of some."""
    parts: list[list[bytes]] = [[] for _ in range(partitions)]
    for chunk in _steps.piped(lines, args):
        for line in chunk.split(b"\n")[:-1]:
            parts[(64 * line[0] + line[1]) % partitions].append(line + b"\n")
    return map(b"".join, parts)


def _reduce(parts: list[Any], args: list[str]) -> tuple[list[bytes], int]:
    """Returns what a reduce makes of the lines of a partition, and how many documents are undecided."""
    lines = sorted(line + b"\n" for part in parts for line in ray.get(part).split(b"\n")[:-1])
    found = list(_steps.piped(lines, args))
    return found, sum(int(n) for part in found for n in re.findall(rb'^~end.*"undecided":(\d+)', part, re.M))


def _collect(parts: list[Any], blocks: int) -> Iterator[Any]:
    """Yields the dropped rows of each block, by the lines of the last round."""
    yield from _steps.divide(_steps.collect(line for part in parts for line in ray.get(part)), blocks)


def _filter(block: Any, share: int, text: str, texts: str, dropped: Any, starts: list[int]) -> tuple[Any, Any]:
    """Returns a block without the dropped rows, and the decisions about them."""
    import numpy
    import pyarrow as pa

    if _digest(_texts(block, text)) != texts:
        raise CorruptError(f"rows of block {share} changed between two readings of the Dataset: write it to files first, and read these")
    stays = numpy.ones(len(block), bool)
    stays[dropped["row"]] = False
    kept_row = dropped["kept_row"].to_numpy() + numpy.array(starts)[dropped["kept_share"].to_numpy()]
    decisions = pa.table({"row": dropped["row"].to_numpy() + starts[share], "kept_row": kept_row, "distance": dropped["distance"], "similarity": dropped["similarity"]})
    try:
        block = block.filter(pa.array(stays))
    except pa.ArrowNotImplementedError:  # of string_view, which becomes large_string
        block = pa.table([_sources.plain(column) for column in block.columns], block.column_names).filter(pa.array(stays))
    return block, decisions
