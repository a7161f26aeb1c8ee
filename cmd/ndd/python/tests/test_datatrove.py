"""The three stages of datatrove pipelines."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

import ndd
from conftest import corpus

pytest.importorskip("datatrove")
from datatrove.data import Document  # noqa: E402
from ndd.datatrove import Filter, Fingerprint, Join  # noqa: E402

TASKS = 3


def documents(texts=None):
    """Returns the documents of each task, of which the IDs repeat."""
    texts = [document["text"] for document in corpus()] if texts is None else texts
    return [[Document(text=text, id=f"https://example.org/{i % 7}") for i, text in enumerate(texts[rank::TASKS])] for rank in range(TASKS)]


def fingerprint(folder, of, **options):
    for rank, part in enumerate(of):
        Fingerprint(folder, **options).run(iter(part), rank, len(of))


def join(folder, to, **options):
    Join(folder, to, **options).run()


def kept(folder, of):
    return [[document.text for document in Filter(folder).run(iter(part), rank, len(of))] for rank, part in enumerate(of)]


@pytest.fixture
def stages(tmp_path):
    """Returns a folder with the first two stages done, and the documents."""
    fingerprint(str(tmp_path / "prints"), documents())
    join(str(tmp_path / "prints"), str(tmp_path / "decisions"))
    return tmp_path, documents()


@pytest.mark.parametrize("options", [{}, {"keep": "longest", "threshold": 0.8, "memory": "1GiB"}, {"k": 3}])
@pytest.mark.parametrize("of", ["", "memory://"])
def test_equals_dedup(of, options, tmp_path):
    tasks, to, decisions = documents(), of + str(tmp_path), "prints" if of else "decisions"  # one folder can have both
    tasks.append([])  # a task without input
    fingerprint(f"{to}/prints", tasks)
    for _ in range(2):  # also if it runs again
        join(f"{to}/prints", f"{to}/{decisions}", **options)
        found = kept(f"{to}/{decisions}", tasks)
    texts = [document.text for part in tasks for document in part]
    wanted = ndd.dedup(texts, **options).kept
    assert [text for part in found for text in part] == [texts[i] for i in wanted] and 100 < len(wanted) < 300
    assert os.listdir(tmp_path) == ([] if of else ["prints", "decisions"]) or not of


JOB = """
import os, sys
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter
from ndd.datatrove import Filter, Fingerprint, Join

def dies(data, rank, world_size):
    for i, document in enumerate(data):
        yield document
        if i == 20 and not os.path.exists("died-filter"):
            open("died-filter", "w").close()
            os.kill(os.getpid(), 9)

def job():
    prints = LocalPipelineExecutor([JsonlReader("in"), Fingerprint("prints")], tasks=3, workers=1, logging_dir="logs/1")
    join = LocalPipelineExecutor([Join("prints", "decisions")], workers=1, depends=prints, logging_dir="logs/2")
    clean = [JsonlReader("in"), Filter("decisions", JsonlWriter("gone", compression=None)), dies, JsonlWriter("clean", compression=None)]
    LocalPipelineExecutor(clean, tasks=3, workers=1, depends=join, logging_dir="logs/3").run()

for run in range(9):
    child = os.fork()
    if not child:
        job()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    print("run", run, status, flush=True)
    if status != 9:
        sys.exit(status)
"""
def test_killed_and_repeated(tmp_path, dies):
    (tmp_path / "in").mkdir()
    for i in range(5):
        lines = (json.dumps(document) + "\n" for document in corpus()[i * 80 : i * 80 + 80])
        (tmp_path / "in" / f"{i}.jsonl").write_text("".join(lines))
    (tmp_path / "job.py").write_text(JOB)
    env = {**os.environ, "NDD": str(dies), "PYTHONPATH": os.pathsep.join(sys.path)}

    def run():
        with open(tmp_path / "said", "w+") as said, subprocess.Popen([sys.executable, "job.py"], cwd=tmp_path, env=env, stdout=said, stderr=said,
                                                                     text=True, start_new_session=True) as job:
            status = job.wait(120)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(job.pid, signal.SIGKILL)  # managers of the executors that died
        said = (tmp_path / "said").read_text()
        assert status == 0, said
        shutil.rmtree(tmp_path / "logs")
        files = {path.relative_to(tmp_path): path.read_bytes() for name in ("prints", "decisions", "gone", "clean") for path in (tmp_path / name).rglob("*")
                 if path.suffix != ".ndf"}  # which has an identity of its own
        return re.findall("^run (.*)", said, re.M), files

    runs, files = run()
    assert runs == ["0 9", "1 9", "2 9", "3 0"] and {path.name for path in tmp_path.glob("died-*")} == {"died-fingerprint", "died-dedup", "died-filter"}
    assert run() == (["0 0"], files) and len(files) == 3 + 4 + 3 + 3
    texts = [line["text"] for rank in range(3) for i in range(5)[rank::3] for line in corpus()[i * 80 : i * 80 + 80] if line["text"]]
    clean = [json.loads(line)["text"] for rank in range(3) for line in files[pathlib.Path(f"clean/{rank:05}.jsonl")].splitlines()]
    assert clean == [texts[i] for i in ndd.dedup(texts).kept]
    gone = [json.loads(line) for rank in range(3) for line in files[pathlib.Path(f"gone/{rank:05}.jsonl")].splitlines()]
    assert len(gone) == len(texts) - len(clean) and all(document["metadata"]["ndd_jaccard"] >= 0.7 for document in gone)


SLURM = """
from datatrove.executor import SlurmPipelineExecutor
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter
from ndd.datatrove import Filter, Fingerprint, Join

options = {"time": "1:00:00", "partition": "p", "with_srun": False}
prints = SlurmPipelineExecutor([JsonlReader("in"), Fingerprint("prints")], tasks=2, logging_dir="logs/1", **options)
join = SlurmPipelineExecutor([Join("prints", "decisions")], tasks=1, depends=prints, logging_dir="logs/2", **options)
clean = [JsonlReader("in"), Filter("decisions"), JsonlWriter("clean", compression=None)]
SlurmPipelineExecutor(clean, tasks=2, depends=join, logging_dir="logs/3", **options).run()
"""
SBATCH = r"""#!/bin/bash
last=$(sed -n 's/^#SBATCH --array=0-\([0-9]*\).*/\1/p' "${!#}")
for i in $(seq 0 $last); do
	SLURM_ARRAY_TASK_ID=$i SLURM_NODELIST=localhost bash "${!#}" >&2 || exit 1
done
echo Submitted batch job 7
"""


@pytest.mark.long
def test_slurm(tmp_path):
    """Slurm is a script that runs the tasks of a job one after the other."""
    for name, content in {"sbatch": SBATCH, "scontrol": "#!/bin/sh\necho localhost\n", "job.py": SLURM}.items():
        (tmp_path / name).write_text(content)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "in").mkdir()
    for i in range(2):
        (tmp_path / "in" / f"{i}.jsonl").write_text("".join(json.dumps(document) + "\n" for document in corpus()[i::2]))
    path = os.pathsep.join([str(tmp_path), os.path.dirname(sys.executable), os.environ["PATH"]])
    env = {**os.environ, "NDD": ndd.find_ndd(), "PYTHONPATH": os.pathsep.join(sys.path), "PATH": path}
    done = subprocess.run([sys.executable, "job.py"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    texts = [document["text"] for i in range(2) for document in corpus()[i::2] if document["text"]]
    clean = [json.loads(line)["text"] for rank in range(2) for line in open(tmp_path / "clean" / f"{rank:05}.jsonl")]
    assert clean == [texts[i] for i in ndd.dedup(texts).kept]


def changed(of, task, row, text=None, id=None):
    document = of[task][row]
    of[task][row] = Document(text=document.text if text is None else text, id=id or document.id)
    return of


def first_dropped(folder, task):
    from pyarrow import parquet

    return parquet.read_table(folder / "decisions" / f"{task:05}.parquet")["row"][0].as_py()


def fingerprint_fails(folder, of):
    def broken():
        yield of[1][0]
        raise KeyError("broken")

    with pytest.raises(KeyError):
        Fingerprint(str(folder / "prints")).run(broken(), 1, TASKS)
    join(str(folder / "prints"), str(folder / "other"))


@pytest.mark.parametrize("wrong, error, said", [
    (lambda to, of: join(str(to / "empty"), str(to / "decisions")), ndd.NddError, "has no fingerprints"),
    (lambda to, of: os.remove(to / "prints/00001.json") or join(str(to / "prints"), str(to / "other")), ndd.NddError, "lacks the fingerprints of 1 of 3 tasks, such as 1"),
    (fingerprint_fails, ndd.NddError, "lacks the fingerprints of 1 of 3 tasks, such as 1"),
    (lambda to, of: fingerprint(str(to / "prints"), of[:2]) or join(str(to / "prints"), str(to / "other")), ndd.UsageError, "runs with 2 and 3 tasks"),
    (lambda to, of: fingerprint(str(to / "prints"), of[:1] + [[]] * 2) or join(str(to / "prints"), str(to / "decisions")), ndd.UsageError, "has decisions on other documents"),
    (lambda to, of: join(str(to / "prints"), str(to / "decisions"), k=3), ndd.UsageError, "by other rules: give a new folder"),
    (lambda to, of: kept(str(to / "prints"), of), ndd.NddError, "Join has not ended"),
    (lambda to, of: kept(str(to / "decisions"), of[:2]), ndd.UsageError, "Filter has 2 tasks, and Fingerprint had 3"),
    (lambda to, of: kept(str(to / "decisions"), changed(of, 1, -1, text="other words")), ndd.CorruptError, "task 1 has 133 documents; 133 were compared, or other texts"),
    (lambda to, of: kept(str(to / "decisions"), [part[:-1] for part in of]), ndd.CorruptError, "task 0 has 133 documents; 134 were compared"),
    (lambda to, of: kept(str(to / "decisions"), changed(of, 2, first_dropped(to, 2), id="another")), ndd.CorruptError, "of task 2 is 'another', and it was 'https://example.org/"),
    (lambda to, of: join(str(to / "prints"), str(to / "other"), k=3) or shutil.copy(to / "other/00000.parquet", to / "decisions") and kept(str(to / "decisions"), of),
     ndd.CorruptError, "00000.parquet is of another join"),
    (lambda to, of: (to / "prints/00000.ndf").write_bytes((to / "prints/00000.ndf").read_bytes()[:5000]) and join(str(to / "prints"), str(to / "other")), ndd.CorruptError, "00000.ndf: .*truncated"),
    (lambda to, of: Fingerprint(str(to / "new")).run(None), ndd.UsageError, "needs a reader"),
    (lambda to, of: next(iter(Filter(str(to / "decisions")).run(None))), ndd.UsageError, "needs a reader"),
    (lambda to, of: Join(str(to / "prints"), str(to / "new")).run(None, 0, 2), ndd.UsageError, "in one task"),
    (lambda to, of: Join(str(to / "prints"), str(to / "new"), k=9), ndd.UsageError, "k must be between 0 and 8"),
    (lambda to, of: join(str(to / "prints"), str(to / "new"), keep="newest"), ndd.UsageError, "keep newest"),
    (lambda to, of: Fingerprint(str(to / "new"), recipy="simhash"), ndd.UsageError, "did you mean 'recipe'"),
])
def test_wrong(stages, wrong, error, said):
    with pytest.raises(error, match=said):
        wrong(*stages)
    assert not (stages[0] / "new").exists()
