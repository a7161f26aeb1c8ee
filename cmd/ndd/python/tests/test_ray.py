"""Datasets of Ray Data."""
import os
import socket
import subprocess
import sys

import pytest

import ndd
from conftest import corpus

pytestmark = pytest.mark.long
ray = pytest.importorskip("ray")
import ndd.ray  # noqa: E402

ROW = ["row", "kept_row", "distance", "similarity"]


@pytest.fixture(scope="module")
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def check(documents, dataset, text="text", join="one", **options):
    clean = ndd.ray.dedup(dataset, join=join, **options)
    wanted = ndd.dedup([document[text] for document in documents], **options)
    assert clean.take_all() == [documents[i] for i in wanted.kept]
    assert [tuple(row[n] for n in ROW) for row in clean.decisions.take_all()] == sorted(tuple(row.values()) for row in wanted.dropped.select(
        ["row", "kept_row", "distance", "jaccard"]).to_pylist())
    assert clean.stats == {"documents": len(documents), "kept": len(wanted.kept), "dropped": len(documents) - len(wanted.kept), "skipped": 0}
    return clean.stats["dropped"]


@pytest.mark.parametrize("join", ["one", "shuffle"])
@pytest.mark.parametrize("blocks, options", [(5, {}), (1, {"keep": "longest", "threshold": 0.8}), (12, {"k": 3, "extract": "all"}), (2, {"threshold": 0}), (2, {"recipe": "simhash"})])
def test_equals_dedup(cluster, blocks, options, join):
    assert check(corpus(), ray.data.from_items(corpus(), override_num_blocks=blocks), join=join, **options) > 200


@pytest.mark.parametrize("join", ["one", "shuffle"])
def test_kinds(cluster, join):
    import pandas
    import pyarrow

    documents = [{"body": text, "n": n} for n, text in enumerate(["one two three", None, "one two three", "", "", None, *ndd.dedup([]).kept])]
    frames = ray.data.from_pandas([pandas.DataFrame(documents[:3]), pandas.DataFrame(documents[3:])])
    assert check(documents, frames, text="body", join=join) == 1
    assert check(documents, ray.data.from_arrow([pyarrow.Table.from_pylist(documents).slice(0, 4), pyarrow.Table.from_pylist(documents).slice(4)]), text="body", join=join) == 1
    some = ray.data.from_arrow([pyarrow.table({"n": [1]}), pyarrow.table({"body": ["one two three"] * 2})])  # of two blocks, one has texts
    assert ndd.ray.dedup(some, text="body", join=join).stats == {"documents": 3, "kept": 2, "dropped": 1, "skipped": 0}
    for empty in (ray.data.from_items([]), ray.data.from_items(documents).filter(lambda row: False)):
        assert check([], empty, text="body", join=join) == 0


def test_long_texts(cluster):
    dataset = ray.data.from_items([{"text": "one two three " * n} for n in (200, 1, 1)], override_num_blocks=1)
    assert ndd.ray.dedup(dataset, max_document="1KiB").stats == {"documents": 3, "kept": 2, "dropped": 1, "skipped": 1}
    with pytest.raises(ndd.NddError, match="too many bad records: 1"):
        ndd.ray.dedup(dataset, max_document="1KiB", join="shuffle")


JOB = """
import os, sys
import ray
folder, join, n = sys.argv[1], sys.argv[2], 400

def dies():
    import ndd.ray as module
    real = module._filter
    def filter(*arguments):
        if not os.path.exists(folder + "/died-filter"):
            open(folder + "/died-filter", "w").close()
            os.kill(os.getpid(), 9)
        return real(*arguments)
    module._filter = filter

if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"worker_process_setup_hook": dies})
    import ndd.ray
    from conftest import corpus
    clean = ndd.ray.dedup(ray.data.from_items(corpus(n), override_num_blocks=3), join=join)
    os.environ["NDD"] = sys.argv[3]
    assert clean.take_all() == [corpus(n)[i] for i in ndd.dedup([document["text"] for document in corpus(n)]).kept]
"""


@pytest.mark.parametrize("join, steps", [("one", {"fingerprint", "dedup"}), ("shuffle", {"map-fingerprint", "map-dedup", "map-pairs", "reduce-dedup", "reduce-pairs", "collect-dedup"})])
def test_killed(tmp_path, dies, join, steps):
    (tmp_path / "job.py").write_text(JOB)
    env = {**os.environ, "NDD": str(dies), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "job.py", str(tmp_path), join, ndd.find_ndd()], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in tmp_path.glob("died-*")} == {f"died-{step}" for step in steps | {"filter"}}


@pytest.mark.parametrize("call, error, said", [
    (lambda of: ndd.ray.dedup(of, text="body"), ndd.UsageError, "no column 'body' among url, text"),
    (lambda of: ndd.ray.dedup(of.drop_columns(["text"])), ndd.UsageError, "no column 'text' among url; text= names the column"),
    (lambda of: ndd.ray.dedup(of.map(lambda row: {"text": 3})), ndd.UsageError, "values of type int64; text= names another"),
    (lambda of: ndd.ray.dedup(of, recipe="none"), ndd.UsageError, 'no recipe is called "none"'),
    (lambda of: ndd.ray.dedup(of, memory="1KiB"), ndd.NddError, "needs up to .* of memory"),
    (lambda of: ndd.ray.dedup(of, keep="newest"), ndd.UsageError, "keep must be 'first', 'longest' or 'shortest'"),
    (lambda of: ndd.ray.dedup(of, k=9), ndd.UsageError, "k must be between 0 and 8"),
    (lambda of: ndd.ray.dedup(of.take_all()), ndd.UsageError, "type list is no Dataset of Ray"),
    (lambda of: ndd.ray.dedup(of, tekst="a"), ndd.UsageError, "did you mean 'text'"),
])
def test_wrong(cluster, call, error, said):
    with pytest.raises(error, match=said) as raised:
        call(ray.data.from_items(corpus(40), override_num_blocks=2))
    assert type(raised.value) is error  # not that of Ray, with its traces


def test_views():
    """Texts of the type string_view, which pyarrow does not filter."""
    import pyarrow

    block = pyarrow.table({"text": pyarrow.array(["one", "two", "three"], pyarrow.string_view())})
    dropped = pyarrow.table({"row": [1], "kept_share": [0], "kept_row": [0], "distance": [0], "similarity": [1.0]})
    clean, decisions = ndd.ray._filter(block, 1, "text", ndd.ray._digest(ndd.ray._texts(block, "text")), dropped, [0, 5])
    assert clean["text"].to_pylist() == ["one", "three"] and decisions.to_pylist() == [{"row": 6, "kept_row": 0, "distance": 0, "similarity": 1.0}]


def test_order(cluster, monkeypatch):
    """Blocks that are read lazily stay in order."""
    real, orders, dataset = ray.data.Dataset.materialize, [], ray.data.from_items(corpus(40))
    monkeypatch.setattr(ray.data.Dataset, "materialize", lambda self: orders.append(self.context.execution_options.preserve_order) or real(self))
    ndd.ray.dedup(dataset)
    assert orders[0] is True and dataset.context.execution_options.preserve_order is False


def test_machines(cluster, monkeypatch):
    """A machine without ndd, or with another version, is named."""
    dataset = ray.data.from_items([{"text": "one two three"}])
    with monkeypatch.context() as patch:
        patch.setattr(ndd._binary, "version", lambda program: "ndd v0.0")
        with pytest.raises(ndd.NddError, match=r"the machine \S+ has no program ndd v0.0, which the driver has: \S+ is ndd .*Install the wheel") as raised:
            ndd.ray.dedup(dataset)
    assert socket.gethostname() in str(raised.value) and ndd._binary.version(ndd.find_ndd()) in str(raised.value)
    said = "ray::ndd_names() (pid=7, ip=10.0.0.9)\nSystem error: No module named 'ndd'\ntraceback: ..."
    monkeypatch.setattr(ray, "get", lambda refs: raises(ray.exceptions.RaySystemError(said)))
    with pytest.raises(ndd.NddError, match="the machine 10.0.0.9 has no Python module ndd. Install the wheel"):
        ndd.ray._run(ndd.ray._names, 1, [(None,)])


def raises(error):
    raise error


def test_changed_rows(cluster, monkeypatch):
    real = ndd.ray._run

    def run(function, returns, calls):
        if function is ndd.ray._filter:  # as a block that Ray lost, and computed again with other rows
            calls[1] = (ray.put(ray.get(calls[1][0]).slice(1)), *calls[1][1:])
        return real(function, returns, calls)

    monkeypatch.setattr(ndd.ray, "_run", run)
    with pytest.raises(ndd.CorruptError, match="rows of block 1 changed between two readings"):
        ndd.ray.dedup(ray.data.from_items(corpus(40), override_num_blocks=2))
