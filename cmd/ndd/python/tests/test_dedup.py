import builtins
import json
import logging
import os
import pathlib
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import ndd
from conftest import KEPT, check, list_of, text


def test_without_pyarrow(texts, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    result = ndd.dedup(texts)
    check(result)
    assert isinstance(result.dropped, list)


def test_force_replaces_no_input(texts, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    file = folder / "a.jsonl"
    file.write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in enumerate(texts)))
    before = file.read_bytes()
    (tmp_path / "link").symlink_to(folder)
    for source in (file, str(folder / "*.jsonl"), folder):
        for output in (folder, tmp_path / "link", tmp_path, folder / "new"):
            if source is not folder and output == folder / "new":
                continue  # beside the inputs
            for option in ("write_kept", "annotate"):
                with pytest.raises(ndd.NddError):
                    ndd.dedup(source, force=True, **{option: output})
    with pytest.raises(ndd.NddError):
        ndd.dedup(texts, force=True, write_kept=folder)  # not made by ndd
    assert file.read_bytes() == before and os.listdir(folder) == ["a.jsonl"]
    for _ in range(2):
        ndd.dedup(file, force=True, write_kept=tmp_path / "clean")
    assert len((tmp_path / "clean" / "a.jsonl").read_text().splitlines()) == 40


def test_verify_and_report_read_twice(texts, tmp_path):
    result = ndd.dedup(texts, k=6, verify="jaccard>=0.7")
    check(result)
    assert all(r >= 0.7 for r in result.dropped.column("jaccard").to_pylist())
    page = result.report(tmp_path / "report")
    assert "Clusters by size" in pathlib.Path(page).read_text()


def test_keep_by_field(texts):
    result = ndd.dedup([{"text": t, "score": i} for i, t in enumerate(texts)], keep="score")
    assert result.kept == [i for i in range(60) if i % 3 != 0]


def test_sources(texts):
    documents = [{"text": t, "score": i // 30, "set": "web" if i % 3 != 2 else "gold"} for i, t in enumerate(texts)]
    result = ndd.dedup(documents, source="set", prefer=["gold", "web"], keep=["source", "score", "longest"])
    assert result.kept == [i for i in range(60) if i % 3 != 0]
    counts = result.sources if isinstance(result.sources, list) else result.sources.to_pylist()
    assert [(s["source"], s["documents"], s["dropped"], s["kept_for_others"]) for s in counts] == [("web", 40, 20, 0), ("gold", 20, 0, 20)]
    with pytest.raises(ndd.NddError, match="max_drop 30%: 20 of 60 documents would be dropped"):
        ndd.dedup(documents, max_drop="30%")
    with pytest.raises(ndd.NddError, match="max_drop 30%"):
        ndd.dedup(documents, max_drop=0.3)
    with pytest.raises(ndd.UsageError, match="the sources are web, gold"):
        ndd.dedup(documents, source="set", protect="silver")


def test_equal_urls_and_annotations(texts, tmp_path):
    documents = [{"text": t, "url": f"http://example.org/{i % 30}"} for i, t in enumerate(texts)]
    assert ndd.dedup(documents, verify="exact", same_url=True).stats["dropped"] == 30
    renamed = [{"text": d["text"], "link": d["url"]} for d in documents]
    assert ndd.dedup(renamed, verify="exact", same_url="link").stats["dropped"] == 30
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps(d) + "\n" for d in documents))
    result = ndd.dedup(file, annotate=tmp_path / "notes")
    noted = [json.loads(line) for line in open(tmp_path / "notes" / "in.jsonl")]
    assert [i for i, d in enumerate(noted) if d["ndd_kept"]] == KEPT
    result.report(tmp_path / "report")
    with pytest.raises(ndd.UsageError, match="annotate"):
        ndd.dedup(documents, annotate=tmp_path / "no")


def test_equal_short_texts():
    assert ndd.dedup(["a b c"] * 3).kept == [0]
    assert ndd.dedup(["a b c", "d", "a b c", "d"], k=3).kept == [0, 1]


def test_odd_texts(texts):
    result = ndd.dedup([*texts, None, "", "\ud800 lone", "tab\tnul\x00\x85\u2028\nline"])
    assert result.stats["documents"] == 64 and result.kept == [*KEPT, 60, 61, 62, 63]


@pytest.mark.parametrize("of, arguments, error, said", [
    (None, {"k": 99}, ndd.UsageError, "k must be between 0 and 8, not 99"),
    (None, {"tresh": 1}, ndd.UsageError, "dedup has no argument 'tresh'"),
    (None, {"prefr": "x"}, TypeError, "did you mean 'prefer'?"),
    ("table", {"text": "body"}, ndd.UsageError, "'body' among n, text"),
    ("missing", {}, ndd.NddError, "no such file"),
    ([1, 2], {}, ndd.UsageError, "int"),
])
def test_wrong(texts, of, arguments, error, said):
    if of == "table":
        of = pytest.importorskip("pyarrow").table({"n": range(60), "text": texts})
    with pytest.raises(error, match=said):
        ndd.dedup(texts if of is None else of, **arguments)


def test_skipped_input_is_a_warning(texts, tmp_path, caplog):
    file = tmp_path / "in.jsonl"
    file.write_text('{"text": "broken\n' + json.dumps({"text": texts[0]}) + "\n")
    with caplog.at_level(logging.WARNING, "ndd"):
        ndd.dedup(file)
    assert any("done in part" in r.message for r in caplog.records)


def test_fingerprint(texts):
    numpy = pytest.importorskip("numpy")
    prints = ndd.fingerprint(["The quick brown fox jumps over the lazy dog near the river bank.", "short"])
    assert prints.dtype == numpy.uint64 and hex(prints[0]) == "0xdc7649b7ea530094" and prints.mask.tolist() == [False, True]
    assert (ndd.fingerprint(texts, recipe="simhash") != ndd.fingerprint(texts)).all()


def test_copies():
    long = text(1, 900)
    pairs = ndd.copies([long, " ".join(long.split()[300:600]), text(2, 900)], method="winnow").to_pylist()
    assert [(p["id_a"], p["id_b"], p["relation"]) for p in pairs] == [(0, 1, "contains")]


def test_threads(texts):
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(lambda i: ndd.dedup(texts), range(8)):
            check(result)


def test_missing_binary(monkeypatch):
    monkeypatch.setenv("NDD", "/nonexistent/ndd")
    with pytest.raises(ndd.NddError, match="does not start"):
        ndd.dedup(["a"])
    monkeypatch.delenv("NDD")
    monkeypatch.setattr("os.path.isfile", lambda path: False)
    with pytest.raises(ndd.NddError, match="install the wheel again"):
        ndd.find_ndd()


def test_other_platform(monkeypatch, tmp_path):
    program = tmp_path / "ndd"
    program.write_bytes(b"MZ of another system")
    program.chmod(0o755)
    monkeypatch.setenv("NDD", str(program))
    with pytest.raises(ndd.NddError, match="for this machine"):
        ndd.dedup(["a"])


INTERRUPTED = """
import ndd, signal
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what it starts in the background
start = ndd._process.start
def starting(*args, **streams):
    process = start(*args, **streams)
    ended, process.wait = process.wait, lambda *t: tell(process.pid) or ended(*t)
    return process
def tell(pid):
    global tell
    tell = lambda pid: None
    print(pid, flush=True)
ndd._process.start = starting
try:
    ndd.dedup(Path("never"), k=3)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_interrupt_ends_the_program(tmp_path):
    os.mkfifo(tmp_path / "never")  # nobody writes there
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True) as process:
        program = int(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "interrupted\n"
    with pytest.raises(ProcessLookupError):
        os.kill(program, 0)


def test_passages(tmp_path):
    shared = "this line of some length stands in both of the documents\n"
    spans = ndd.passages(["the first\n" + shared, shared + "and more of the second, which nothing else has\n"], unit="line")
    assert [(r["id"], r["from"], r["kept"]) for r in spans.to_pylist()] == [(0, 10, 1), (1, 0, 0)]
    with pytest.raises(ndd.UsageError, match="unit line, paragraph"):
        ndd.passages(["a text"])
    with pytest.raises(ndd.UsageError, match="no argument 'dry_run'"):
        ndd.passages(["a text"], unit="line", dry_run=True)


def test_decontaminate(tmp_path):
    (tmp_path / "evals.jsonl").write_text('{"id": "q1", "prompt": "Who was the first to row across the lake at night?", "answer": "Mia"}\n')
    texts = ["nothing of it", "Quiz: who was the first to row across the lake, at night? Mia did.", "and nothing here"]
    hits = ndd.decontaminate(texts, tmp_path / "evals.jsonl")
    assert [(r["id"], r["item_id"], r["score"], r["answer"]) for r in hits.to_pylist()] == [(1, "q1", 1.0, True)]
    assert len(ndd.decontaminate(texts, [tmp_path / "evals.jsonl"], question="answer", min_words=1, common=1)) == 1
    with pytest.raises(ndd.NddError, match='no field "query"'):
        ndd.decontaminate(texts, str(tmp_path), question="query", strict=True)
    with pytest.raises(ndd.UsageError, match="no argument 'format'"):
        ndd.decontaminate(texts, str(tmp_path), format="tsv")


def test_text_column_of_numbers():
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(ndd.UsageError, match="values of type int64"):
        ndd.dedup(pa.table({"text": [1, 2]}))


def test_import_loads_little():
    modules = subprocess.run([sys.executable, "-c", "import sys, ndd; print(*sys.modules)"], check=True, capture_output=True, text=True,
                             env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}).stdout.split()
    assert not {"numpy", "pyarrow", "pandas", "http.client", "asyncio"} & set(modules)
