"""Runs the examples of ``ndd help python`` as they stand there, with the libraries that they are for."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

import ndd

PAGE = subprocess.run([ndd.find_ndd(), "help", "python"], capture_output=True, text=True, check=True).stdout
EXAMPLES = {
    title: "\n".join(re.findall(r"^```python\n(.*?)^```$", body, re.M | re.S))
    for title, body in re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
}
LONG = {"Spark", "Ray Data", "Airflow"}  # large libraries
WORDS = "anchor basin cliff delta estuary fjord gale harbour inlet jetty keel lagoon mast narrows ocean pier quay reef shoal tide".split()


def text(n):
    """Returns an invented text of 60 words, another for each number."""
    return " ".join(WORDS[(n * n * 7 + i * i + n * i) % len(WORDS)] + str((n * 31 + i) % 97) for i in range(60))


@pytest.fixture
def crawl(tmp_path):
    """A folder of two files with 20 pages, of which the second has six of the first again, and is shorter."""
    (tmp_path / "crawl").mkdir()
    for name, rows in {"a": range(12), "b": [*range(6), 12, 13]}.items():
        lines = (json.dumps({"url": f"https://{name}.example/{n}", "text": text(n)}) + "\n" for n in rows)
        (tmp_path / "crawl" / f"{name}.jsonl").write_text("".join(lines))
    return tmp_path


def run(title, folder, more="", before="", after=""):
    """Runs an example, in which after replaces before, and returns its output."""
    assert before in EXAMPLES[title]
    code = EXAMPLES[title].replace(before, after) if before else EXAMPLES[title]
    (folder / "example.py").write_text(code + "\n" + more + "\nprint('whole', flush=True)\n")
    env = {**os.environ, "PATH": os.path.dirname(ndd.find_ndd()) + os.pathsep + os.environ["PATH"], "HF_DATASETS_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "example.py"], cwd=folder, env=env, capture_output=True, text=True, timeout=300)
    # Once in some hundred runs pyarrow aborts when all is done: https://github.com/apache/arrow/issues/34314
    aborted = done.returncode == -signal.SIGABRT and done.stderr.endswith("terminate called without an active exception\n")
    assert "whole\n" in done.stdout and (done.returncode == 0 or aborted), done.stdout + done.stderr
    return done.stdout


def rows(folder):
    """Returns the URLs of the JSON lines in a folder."""
    import gzip

    found = []
    for path in sorted(folder.rglob("*.json*")):
        if path.name.startswith("."):  # a checksum of Spark's
            continue
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix == ".gz" else data
        for line in data.splitlines():
            row = json.loads(line)
            found.append(row.get("url") or row["metadata"]["url"])
    return sorted(found)


PAGES = [f"https://a.example/{n}" for n in range(12)] + ["https://b.example/12", "https://b.example/13"]


def numbers(urls):
    """Returns what the pages at some URLs say, each by its number."""
    return sorted(int(url.rpartition("/")[2]) for url in urls)


def test_every_example_is_run():
    assert set(EXAMPLES) == {"The wheel", "Hugging Face datasets", "DuckDB and polars", "datatrove", "Images"} | LONG


def test_wheel(crawl):
    out = run("The wheel", crawl)
    assert "'dropped': 6" in out and "https://b.example/0 is a copy of https://a.example/0" in out


def test_datasets(crawl):
    run("Hugging Face datasets", crawl)
    from datasets import load_from_disk

    assert sorted(load_from_disk(str(crawl / "clean-dataset"))["url"]) == sorted(PAGES)
    assert rows(crawl / "clean") == sorted(PAGES)
    assert sorted(path.name for path in (crawl / "clean").glob("[!.]*")) == ["a.jsonl", "b.jsonl"]


def test_duckdb_and_polars(crawl):
    run("DuckDB and polars", crawl, f"assert sorted(clean['url']) == {sorted(PAGES)}\n")


def test_datatrove(crawl):
    for _ in range(2):  # another time all stages run again
        run("datatrove", crawl)
        assert rows(crawl / "clean") == sorted(PAGES)
        shutil.rmtree(crawl / "logs")


def test_images(tmp_path):
    assert "'original'" in run("Images", tmp_path)


@pytest.mark.long
def test_spark(crawl):
    with open(crawl / "crawl" / "b.jsonl", "a") as f:  # of two rows with one URL and one text, one stays
        f.write(json.dumps({"url": "https://b.example/13", "text": text(13)}) + "\n")
        f.write(json.dumps({"url": None, "text": "no URL and few words"}) + "\n")
    run("Spark", crawl)
    found = [json.loads(line) for path in (crawl / "clean").glob("*.json") for line in path.read_text().splitlines()]
    assert numbers(page["url"] for page in found if "url" in page) == list(range(14)) and len(found) == 15


@pytest.mark.long
def test_ray(crawl):
    assert "{'documents': 20, 'kept': 14, 'dropped': 6, 'skipped': 0}" in run("Ray Data", crawl)
    assert numbers(rows(crawl / "clean")) == list(range(14))


@pytest.mark.long
def test_airflow(crawl):
    with open(crawl / "crawl" / "a.jsonl", "a") as f:
        f.write("broken\n")  # status 4
    run("Airflow", crawl, "task = dag.get_task('dedup')\ntask.execute({})\n")
    assert (crawl / "clean" / "b.jsonl").exists()
