"""Removes near-duplicates from a Dataset of Ray Data.

    import ndd.ray
    clean = ndd.ray.dedup(ray.data.read_json("crawl"), text="text")

Each machine of the cluster needs the wheel of ndd, such as by ``ray.init(runtime_env={"pip": ["ndd-....whl"]})``.
"""
import itertools
import os
import re
import tempfile
from typing import TYPE_CHECKING, Any, Iterator, Literal, TypedDict, cast

import ray

from . import _process, _share, _sources, _steps
from ._arguments import Distance, Part, Path, Share, Size, checked, given
from ._errors import CorruptError, NddError, UsageError

ROWS = 4096  # texts that are in memory as objects of Python


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
        threshold: Minimum similarity, 0 to 1: the Jaccard similarity of the texts, as sketches estimate it. 0 does not verify.
        k: Maximum Hamming distance of fingerprints in bits, 0 to 8. Default: 8, or 3 for a recipe without sketches.
        keep: The order of preference: first, longest or shortest. The first row is that of the first block.
        join: one compares the fingerprints of all rows in one task, which needs 100 bytes of disk for each. shuffle compares
            them in all tasks, in several rounds.
        extract: Part of an HTML page that is compared.
        recipe: Recipe of fingerprints: minwise, minwise-pairs, ordered, simhash or a file on each machine.
        max_document: Longer texts are skipped, and stay; to join="shuffle" they are an error. A number of bytes, or a text
            such as "64MiB".
        memory: Limit of the comparison in bytes, or as a text such as "4GiB". Default: the available memory.

    Raises:
        UsageError: An argument is unknown or wrong, or there is no text column.
        CorruptError: Rows changed between two readings.
        NddError: ndd failed in a task.
    """
    import pyarrow

    options = given(dedup, locals())
    reading: dict[str, Any] = {name: options[name] for name in ("extract", "recipe", "max_document") if name in options}
    deciding: dict[str, Any] = {name: options[name] for name in ("threshold", "k", "keep", "memory") if name in options}
    if not threshold:
        reading["sketch"] = "none"
    fingerprint, decide = (_share.fingerprint, _one) if join == "one" else (_share.lines, _shuffle)
    if not isinstance(dataset, ray.data.Dataset):
        raise UsageError(f"an object of type {type(dataset).__name__} is no Dataset of Ray: ndd.dedup takes others")
    held = dataset.materialize()
    schema, blocks = held.schema(), held.to_arrow_refs() or [ray.put(pyarrow.table({}))]
    column = _sources.Rows(None, text)
    column.choose(list(schema.names) if schema is not None else [text or _sources.TEXT[0]])  # without rows it has no columns
    parts = _run(_fingerprint, 2, [(block, share, column.text, fingerprint, reading) for share, block in enumerate(blocks)])
    about = ray.get([part[1] for part in parts])
    starts = [0, *itertools.accumulate(rows for rows, _, _ in about)]
    firsts = ray.put(starts)
    dropped = decide([part[0] for part in parts], deciding)
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
    task = ray.remote(num_returns=returns + 1, name=f"ndd{function.__name__}")(_task)
    refs = [task.remote(function, returns, *call) for call in calls]
    for error in ray.get([ref[-1] for ref in refs]):
        if error is not None:
            raise error
    return [ref[:-1] for ref in refs]


def _task(function: Any, returns: int, *arguments: Any) -> "tuple[Any, ...]":
    """Returns what a function returns, and its error of ndd in place of Ray's, which has a trace for each task."""
    try:
        return (*function(*arguments), None)
    except NddError as e:
        return (*[None] * returns, e)


def _texts(block: Any, text: str) -> Iterator["str | None"]:
    """Yields the texts of a block. It has none if no row has that column."""
    if text not in block.column_names:
        yield from itertools.repeat(None, len(block))
        return
    column = _sources.texts(_sources.plain(block.column(text)))
    for at in range(0, len(column), ROWS):
        yield from column.slice(at, ROWS).to_pylist()


def _fingerprint(block: Any, share: int, text: str, write: Any, options: dict[str, Any]) -> tuple[bytes, tuple[int, str, int]]:
    """Returns the fingerprints of a block, which a function writes, and the number and digest of its texts, and how many were skipped."""
    with tempfile.TemporaryDirectory(prefix="ndd-") as folder:
        path = os.path.join(folder, "share.ndf")
        digest, skipped = write(path, share, ((t, "") for t in _texts(block, text)), {**options, "threads": 1})
        with open(path, "rb") as f:
            return f.read(), (digest.count, str(digest), skipped)


def _one(prints: list[Any], options: dict[str, Any]) -> list[Any]:
    """Returns references of the dropped rows of each block, which one task decides."""
    return _run(_decide, len(prints), [(prints, options)])[0]


def _decide(prints: list[Any], options: dict[str, Any]) -> Iterator[Any]:
    """Yields the dropped rows of each block."""
    with tempfile.TemporaryDirectory(prefix="ndd-") as folder:
        paths = [os.path.join(folder, f"{share}.ndf") for share in range(len(prints))]
        for part, path in zip(prints, paths):
            with open(path, "wb") as f:
                f.write(ray.get(part))
        yield from _share.decide(paths, options)


def _shuffle(prints: list[Any], options: dict[str, Any]) -> list[Any]:
    """Returns references of the dropped rows of each block, which all tasks decide in rounds."""
    partitions = min(len(prints), 64)  # the first two characters of a key are one of 64

    def shuffled(mapper: list[str], reducer: list[str], *data: Any) -> Any:
        """Returns pairs: lines of a reduce, and the number of undecided documents."""
        parts = _run(_map, partitions, [(lines, mapper, partitions) for pairs in data for lines, _ in pairs])
        return _run(_reduce, 2, [([part[i] for part in parts], reducer) for i in range(partitions)])

    last = _steps.rounds(shuffled, lambda data: sum(ray.get([count for _, count in data])), [(part, None) for part in prints], options)
    return _run(_collect, len(prints), [([lines for lines, _ in last], len(prints))])[0]


def _map(lines: bytes, args: list[str], partitions: int) -> "Iterator[bytes]":
    """Yields the lines of each partition that a map makes of some."""
    parts: list[list[bytes]] = [[] for _ in range(partitions)]
    for chunk in _steps.piped([lines], args):
        for line in chunk.split(b"\n")[:-1]:
            parts[(64 * line[0] + line[1]) % partitions].append(line + b"\n")
    return map(b"".join, parts)


def _reduce(parts: list[Any], args: list[str]) -> tuple[bytes, int]:
    """Returns what a reduce makes of the lines of a partition, and how many documents are undecided."""
    lines = sorted(line + b"\n" for part in parts for line in ray.get(part).split(b"\n")[:-1])
    found = b"".join(_steps.piped(lines, args))
    return found, sum(map(int, re.findall(rb"^~end.* undecided=(\d+)", found, re.M)))


def _collect(parts: list[Any], blocks: int) -> Iterator[Any]:
    """Yields the dropped rows of each block, by the lines of the last round."""
    with tempfile.TemporaryDirectory(prefix="ndd-") as folder:
        path = os.path.join(folder, "dropped.tsv")
        with open(path, "wb") as f:
            f.writelines(_steps.piped((ray.get(part) for part in parts), _steps.COLLECT))
        yield from _share.divide(path, blocks)


def _filter(block: Any, share: int, text: str, texts: str, dropped: Any, starts: list[int]) -> tuple[Any, Any]:
    """Returns a block without the dropped rows, and the decisions about them."""
    import numpy
    import pyarrow as pa

    digest = _share.Digest()
    for t in _texts(block, text):
        digest.add(t or "")
    if str(digest) != texts:
        raise CorruptError(f"rows of block {share} changed between two readings of the Dataset: write it to files first, and read these")
    stays = numpy.ones(len(block), bool)
    stays[dropped["row"]] = False
    kept_row = dropped["kept_row"].to_numpy() + numpy.array(starts)[dropped["kept_share"].to_numpy()]
    decisions = pa.table({"row": dropped["row"].to_numpy() + starts[share], "kept_row": kept_row, "distance": dropped["distance"], "similarity": dropped["similarity"]})
    return block.filter(pa.array(stays)), decisions
