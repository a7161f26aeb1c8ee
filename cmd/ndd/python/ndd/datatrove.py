"""Near-duplicates as three stages of datatrove pipelines.

    from ndd.datatrove import Filter, Fingerprint, Join

    prints = LocalPipelineExecutor([JsonlReader("crawl"), Fingerprint("prints")], tasks=8)
    join = LocalPipelineExecutor([Join("prints", "decisions")], depends=prints)
    LocalPipelineExecutor([JsonlReader("crawl"), Filter("decisions"), JsonlWriter("clean")], tasks=8, depends=join).run()

The result is that of :func:`ndd.dedup` over the documents of all tasks, in the order of their ranks. Each file appears
when it is complete, and the marker of a stage appears last. So a task may be killed, and any stage may run again.
"""
import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from typing import TYPE_CHECKING, Any, Iterator

from datatrove.io import get_datafolder
from datatrove.utils.typeshelper import StatHints

from . import _steps
from ._arguments import Distance, Path, Share, Size, checked, given
from ._errors import CorruptError, NddError, UsageError

__all__ = ["Filter", "Fingerprint", "Join"]
Folder = Any  # a path, an address such as s3://..., or a DataFolder
JOINED = "join.json"
OTHER = "Filter must read the documents that Fingerprint read; run all three stages again, with new folders"

if TYPE_CHECKING:  # datatrove does not export its types

    class Step:
        """A step of a pipeline."""

        def __call__(self, data: Any = None, rank: int = 0, world_size: int = 1) -> Any: ...
        def stat_update(self, *labels: str, value: int = 1, unit: str | None = None) -> None: ...
        def track_time(self, unit: str | None = None) -> Any: ...

else:
    from datatrove.pipeline.base import PipelineStep as Step


class Fingerprint(Step):
    """Writes the fingerprints of the documents of each task. It passes no document on.

    Args:
        output_folder: Folder for a file of fingerprints and a marker of each task.
        recipe: Recipe of fingerprints: minwise, minwise-pairs, simhash or a file.
        max_document: Longer documents are skipped, and stay. A number of bytes, or a text such as "64MiB".
    """

    type: str = "🫂 - DEDUP"
    name: str = "ndd stage 1: fingerprints"
    _requires_dependencies: "list[str]" = ["pyarrow"]

    @checked
    def __init__(self, output_folder: Folder, *, recipe: Path = "minwise", max_document: Size = "64MiB") -> None:
        super().__init__()
        self.output_folder: Any = get_datafolder(output_folder)
        self.options: dict[str, Any] = given(Fingerprint.__init__, locals())

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> None:
        if data is None:
            raise UsageError("Fingerprint needs a reader before it")
        marker, options = f"{rank:05}.json", {**self.options, "threads": 1}
        with tempfile.TemporaryDirectory(prefix="ndd-") as folder:
            if self.output_folder.exists(marker):
                self.output_folder.rm(marker)
            path = os.path.join(folder, "share.ndf")
            with self.track_time(unit="task"):
                digest, skipped = _steps.stream(path, rank, ((document.text, document.id) for document in data), options)
            self.stat_update(StatHints.total, value=digest.count, unit="task")
            self.stat_update("skipped", value=skipped, unit="task")
            _publish(self.output_folder, path, f"{rank:05}.ndf")
            _mark(self.output_folder, marker, {"rank": rank, "ranks": world_size, "texts": str(digest), "options": self.options})


class Join(Step):
    """Decides which documents are dropped, in one task without a reader.

    Args:
        input_folder: Folder that Fingerprint wrote.
        output_folder: Folder for a table of dropped documents of each task, and a marker.
        keep: The order of preference: first, longest or shortest.
        threshold, k, memory: See :func:`ndd.dedup`.
    """

    type: str = "🫂 - DEDUP"
    name: str = "ndd stage 2: decisions"
    _requires_dependencies: "list[str]" = ["pyarrow"]

    @checked
    def __init__(self, input_folder: Folder, output_folder: Folder, *, keep: str = "first", threshold: Share = 0.74,
                 k: Distance | None = None, memory: Size | None = None) -> None:
        super().__init__()
        self.input_folder: Any = get_datafolder(input_folder)
        self.output_folder: Any = get_datafolder(output_folder)
        self.options: dict[str, Any] = given(Join.__init__, locals())

    def run(self, data: Any = None, rank: int = 0, world_size: int = 1) -> None:
        if data is not None or world_size != 1:
            raise UsageError("Join runs in one task, without a reader")
        shares, options = self.shares(), {name: value for name, value in self.options.items() if name != "memory"}
        join = {"ranks": len(shares), "options": options, "of": hashlib.sha256(json.dumps([shares, options]).encode()).hexdigest()}
        if self.output_folder.exists(JOINED) and _marked(self.output_folder, JOINED) != join:
            raise UsageError(f"{self.output_folder.path} has decisions on other documents, or by other rules: give a new folder")
        with tempfile.TemporaryDirectory(prefix="ndd-") as folder, self.track_time(unit="task"):
            paths = [self.fetch(f"{share:05}.ndf", folder) for share in range(len(shares))]
            for share, table in enumerate(_steps.divide(_steps.decide(paths, self.options), len(paths))):
                self.stat_update("dropped", value=len(table), unit="task")
                _write(self.output_folder, f"{share:05}.parquet", folder, table, {"of": join["of"], "texts": shares[share]["texts"]})
        _mark(self.output_folder, JOINED, join)

    def shares(self) -> list[dict[str, Any]]:
        """Returns the markers of all shares, in order."""
        folder = self.input_folder
        shares = [_marked(folder, name) for name in sorted(folder.list_files(glob_pattern="[0-9]*.json", recursive=False))]
        if not shares:
            raise NddError(f"{folder.path} has no fingerprints: no task of Fingerprint has ended")
        ranks = shares[0]["ranks"]
        if any(share["ranks"] != ranks for share in shares):
            raise UsageError(f"{folder.path} has fingerprints of runs with {' and '.join(map(str, sorted({s['ranks'] for s in shares})))} tasks: use a folder for each")
        if missing := sorted(set(range(ranks)) - {share["rank"] for share in shares}):
            raise NddError(f"{folder.path} lacks the fingerprints of {len(missing)} of {ranks} tasks, such as {missing[0]}: run Fingerprint again")
        return sorted(shares, key=lambda share: share["rank"])

    def fetch(self, name: str, folder: str) -> str:
        """Returns the path of a file of the input folder, or of its copy in a folder of this machine."""
        if self.input_folder.is_local():
            return str(self.input_folder.resolve_paths(name))
        self.input_folder.get_file(name, os.path.join(folder, name))
        return os.path.join(folder, name)


class Filter(Step):
    """Passes on the documents that stay. It must get the documents that Fingerprint got, in as many tasks.

    Dropped documents get the metadata ndd_kept_id, ndd_distance and ndd_jaccard.

    Args:
        decisions: Folder that Join wrote.
        exclusion_writer: Writer for the dropped documents.
    """

    type: str = "🫂 - DEDUP"
    name: str = "ndd stage 3: filter"
    _requires_dependencies: "list[str]" = ["pyarrow"]

    def __init__(self, decisions: Folder, exclusion_writer: Any = None) -> None:
        super().__init__()
        self.decisions: Any = get_datafolder(decisions)
        self.exclusion_writer: Any = exclusion_writer

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        if data is None:
            raise UsageError("Filter needs a reader before it")
        texts, dropped = self.read(rank, world_size)
        digest, row = _steps.Digest(), next(dropped, None)
        with self.exclusion_writer if self.exclusion_writer else contextlib.nullcontext() as writer:
            for document in data:
                self.stat_update(StatHints.total)
                at = digest.count
                digest.add(document.text or "")
                if row is None or row["row"] != at:
                    self.stat_update(StatHints.forwarded)
                    yield document
                    continue
                if _steps.cut(document.id) != row["id"]:
                    raise CorruptError(f"document {at} of task {rank} is {document.id!r}, and it was {row['id']!r}: {OTHER}")
                self.stat_update(StatHints.dropped)
                if writer is not None:
                    document.metadata |= {"ndd_kept_id": row["kept_id"], "ndd_distance": row["distance"], "ndd_jaccard": row["similarity"]}
                    writer.write(document, rank)
                row = next(dropped, None)
        if str(digest) != texts:
            raise CorruptError(f"task {rank} has {digest.count} documents; {texts.partition('-')[0]} were compared, or other texts: {OTHER}")

    def read(self, rank: int, world_size: int) -> tuple[str, Iterator[dict[str, Any]]]:
        """Returns the digest of the texts that a task must get, and its dropped documents."""
        import pyarrow.parquet as pq

        if not self.decisions.exists(JOINED):
            raise NddError(f"{self.decisions.path} has no {JOINED}: Join has not ended")
        join = _marked(self.decisions, JOINED)
        if join["ranks"] != world_size:
            raise UsageError(f"Filter has {world_size} tasks, and Fingerprint had {join['ranks']}: their numbers must be equal")
        with self.decisions.open(f"{rank:05}.parquet", "rb") as f:
            table = pq.read_table(f)
        about = json.loads(table.schema.metadata[b"ndd"])
        if about["of"] != join["of"]:
            raise CorruptError(f"{self.decisions.path}: {rank:05}.parquet is of another join than {JOINED}: run Join again, into a new folder")
        return about["texts"], (row for batch in table.to_batches(4096) for row in batch.to_pylist())


def _write(to: Folder, name: str, folder: str, table: Any, about: dict[str, Any]) -> None:
    """Writes a table with metadata, by way of a folder of this machine."""
    import pyarrow.parquet as pq

    path = os.path.join(folder, name)
    pq.write_table(table.replace_schema_metadata({"ndd": json.dumps(about)}), path)
    _publish(to, path, name)
    os.remove(path)


def _mark(to: Folder, name: str, about: dict[str, Any]) -> None:
    with tempfile.NamedTemporaryFile("w", prefix="ndd-") as f:
        json.dump(about, f, default=str)
        f.flush()
        _publish(to, f.name, name)


def _marked(folder: Folder, name: str) -> dict[str, Any]:
    with folder.open(name, "r") as f:
        return json.load(f)


def _publish(to: Folder, path: str, name: str) -> None:
    """Copies a file to a folder, in which it appears when it is complete. So do objects of a store by themselves."""
    if not to.is_local():
        to.put_file(path, name)
        return
    target = str(to.resolve_paths(name))
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(path, "rb") as source, open(target + ".part", "wb") as copy:
        shutil.copyfileobj(source, copy)
        copy.flush()
        os.fsync(copy.fileno())
    os.replace(target + ".part", target)
