# Deduplicates a folder of labelled documents by ndd and by MinHash tools, side by side: processor time, memory, how
# many near pairs lose one of the two, and how many of the dropped documents are near one that is kept.
#
#	pip install ndd rensa datasketch 'datatrove[processing]' orjson spacy
#	python3 bench/yardstick/compare.py FOLDER [TOOL...]
#
# text-dedup asks for libraries that exclude those of the others: pip install it into an environment of its own, and name
# that one's Python in TEXT_DEDUP_PYTHON.
#
# FOLDER has documents as *.jsonl, with the fields id, lang and text, such as `go run ./bench --labelled FOLDER` writes;
# and pairs.tsv, with the columns id_a, id_b, label and lang. Near pairs are those labelled "same" with a Jaccard of at
# least 0.8. A drop is right where a document that is kept has a Jaccard of at least 0.7 with it, or contains 0.9 of it.
# allpairs.tsv, with id_a, id_b, jaccard, a_in_b and b_in_a of all pairs of documents that are alike, is computed if it
# is absent. Each tool runs in a process of its own. ndd dedup runs with eight keys: the figures are the mean, and the
# recall and the right drops of the least and the best of them.
import collections
import csv
import glob
import hashlib
import importlib.metadata
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HASHES, THRESHOLD, KEYS = 128, 0.8, 8


def documents(folder):
    for path in sorted(glob.glob(os.path.join(folder, "*.jsonl"))):
        with open(path, encoding="utf-8") as f:
            yield from map(json.loads, f)


def shingles(d):
    if d["lang"].startswith("zh"):
        text = "".join(d["text"].split())
        return {text[i : i + 5] for i in range(max(1, len(text) - 4))}
    words = d["text"].lower().split()
    return {" ".join(words[i : i + 3]) for i in range(max(1, len(words) - 2))}


def first_stays(near):
    """Returns what goes where each document is kept unless it is near one that is kept."""
    dropped = set()
    for row, others in near:
        if any(other < row and other not in dropped for other in others):
            dropped.add(row)
    return dropped


def ndd_by(*flags):
    def dedup(folder, key):
        shown = subprocess.run(["ndd", "fingerprint", "--show-recipe"], check=True, capture_output=True).stdout
        with tempfile.TemporaryDirectory() as out:
            with open(out + "/recipe.json", "w") as f:
                json.dump({**json.loads(shown), "key": hashlib.sha256(str(key).encode()).hexdigest()}, f)
            files = sorted(glob.glob(os.path.join(folder, "*.jsonl")))
            command = ["ndd", "dedup", "-q", "--text", "text", "--id", "id", "--recipe", out + "/recipe.json", *flags]
            command += ["--format", "jsonl", "-o", out + "/result", *files]
            subprocess.run(command, check=True)
            with open(out + "/result/dropped.jsonl", encoding="utf-8") as f:
                return {json.loads(line)["id"] for line in f}

    return dedup


def crawler(k):
    """Asks a server for each document, in order, whether a similar one is stored; if not, the server stores it."""

    def ask(folder):
        with socket.create_server(("127.0.0.1", 0)) as s:
            address = "127.0.0.1:%d" % s.getsockname()[1]
        with tempfile.TemporaryDirectory() as out:
            command = ["ndd", "serve", "-i", out + "/index", "--create", "-k", str(k), "--listen", address, "--admin", "off"]
            server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                while subprocess.run(["ndd", "health", "http://" + address], capture_output=True).returncode:
                    time.sleep(0.1)
                dropped, every = set(), list(documents(folder))
                for some in (every[i : i + 64] for i in range(0, len(every), 64)):
                    body = json.dumps({"documents": [{"id": d["id"], "text": d["text"]} for d in some]}).encode()
                    with urllib.request.urlopen(f"http://{address}/v1/check-and-insert", body) as answer:
                        results = json.load(answer)["results"]
                    # the crawler keeps a page that is too short to be compared, which has status 422
                    dropped |= {d["id"] for d, r in zip(some, results) if r["status"] == 200 and not r["inserted"]}
                return dropped
            finally:
                server.terminate()
                server.wait()

    return ask


def datasketch(folder):
    from datasketch import MinHash, MinHashLSH

    lsh, signatures, ids = MinHashLSH(threshold=THRESHOLD, num_perm=HASHES), [], []
    for d in documents(folder):
        signature = MinHash(num_perm=HASHES)
        signature.update_batch([s.encode() for s in shingles(d)])
        lsh.insert(len(ids), signature)
        signatures.append(signature)
        ids.append(d["id"])
    near = ((i, [j for j in lsh.query(s) if s.jaccard(signatures[j]) >= THRESHOLD]) for i, s in enumerate(signatures))
    return {ids[i] for i in first_stays(near)}


def rensa(folder):
    from rensa import RMinHash, RMinHashLSH

    lsh, signatures, ids = RMinHashLSH(threshold=THRESHOLD, num_perm=HASHES, num_bands=16), [], []
    for d in documents(folder):
        signature = RMinHash(num_perm=HASHES, seed=42)
        signature.update(list(shingles(d)))
        lsh.insert(len(ids), signature)
        signatures.append(signature)
        ids.append(d["id"])
    near = ((i, [j for j in lsh.query(s) if s.jaccard(signatures[j]) >= THRESHOLD]) for i, s in enumerate(signatures))
    return {ids[i] for i in first_stays(near)}


def datatrove(folder):
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter, MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    with tempfile.TemporaryDirectory() as to:
        config, log = MinhashConfig(), {"logging_dir": None}
        read = JsonlReader(folder, glob_pattern="*.jsonl", recursive=False, id_key="id", text_key="text")
        steps = [
            [read, MinhashDedupSignature(to + "/signatures", config=config)],
            [MinhashDedupBuckets(to + "/signatures", to + "/buckets", config=config)],
            [MinhashDedupCluster(to + "/buckets", to + "/remove", config=config)],
            [read, MinhashDedupFilter(to + "/remove", exclusion_writer=JsonlWriter(to + "/gone", compression=None))],
        ]
        for tasks, step in zip([1, config.num_buckets, 1, 1], steps):
            LocalPipelineExecutor(step, tasks=tasks, workers=1, logging_dir=f"{to}/logs{len(step)}{tasks}{step[-1].name}", skip_completed=False).run()
        return {d["id"] for d in documents(to + "/gone")}


def text_dedup(folder):
    python = os.environ["TEXT_DEDUP_PYTHON"]
    kept = "import sys, datasets; print(*datasets.load_from_disk(sys.argv[1])['id'], sep='\\n')"
    with tempfile.TemporaryDirectory() as to:
        ids = []
        with open(to + "/documents.jsonl", "w", encoding="utf-8") as f:
            for d in documents(folder):
                ids.append(d["id"])
                f.write(json.dumps({"id": d["id"], "text": d["text"]}) + "\n")
        options = ["--path", "json", "--data_files", to + "/documents.jsonl", "--split", "train", "--cache_dir", to + "/cache"]
        options += ["--output", to + "/kept", "--column", "text", "--num_proc", "1", "--num_perm", str(HASHES), "--threshold", str(THRESHOLD)]
        subprocess.run([python, "-m", "text_dedup.minhash", *options], check=True, stdout=subprocess.DEVNULL)
        left = subprocess.run([python, "-c", kept, to + "/kept"], check=True, capture_output=True, text=True).stdout
        return set(ids) - set(left.splitlines())


TOOLS = {
    "ndd dedup": ndd_by(),
    **{f"ndd dedup -k {k}": ndd_by("-k", str(k)) for k in (3, 6, 7)},
    **{f"ndd serve -k {k}": crawler(k) for k in (3, 4, 6, 8)},
    "rensa": rensa,
    "datasketch": datasketch,
    "datatrove": datatrove,
    "text-dedup": text_dedup,
}


def table(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        return list(csv.DictReader(f, delimiter="\t"))


class Truth:
    """The similarity of the documents, which decides about tools."""

    def __init__(self, folder):
        if os.path.exists(os.path.join(folder, "allpairs.tsv")):
            rows = table(folder, "allpairs.tsv")
            self.pairs = [(r["id_a"], r["id_b"], float(r["jaccard"]), float(r["a_in_b"]), float(r["b_in_a"])) for r in rows]
        else:
            self.pairs = list(self.measured(folder))
        jaccard = {frozenset(p[:2]): p[2] for p in self.pairs}
        labels = [(r["id_a"], r["id_b"], r["lang"], r.get("jaccard")) for r in table(folder, "pairs.tsv") if r["label"] == "same"]
        ids = {d["id"] for d in documents(folder)}
        near = [(a, b, lang) for a, b, lang, j in labels if {a, b} <= ids and float(j or jaccard.get(frozenset((a, b)), 0)) >= 0.8]
        self.near = {lang: [(a, b) for a, b, of in near if of.startswith(lang)] for lang in sorted({lang[:2] for *_, lang in near})}

    def measured(self, folder):
        sets = {d["id"]: shingles(d) for d in documents(folder)}
        having, ids = collections.defaultdict(list), list(sets)
        for one in ids:
            shared = collections.Counter(other for s in sets[one] for other in having[s])
            for other, n in shared.items():
                yield one, other, n / (len(sets[one]) + len(sets[other]) - n), n / len(sets[one]), n / len(sets[other])
            for s in sets[one]:
                having[s].append(one)

    def score(self, dropped):
        """Returns the shares of near pairs of which one goes, by language, and of drops that are right, in percent."""
        found = [100 * sum(a in dropped or b in dropped for a, b in of) / len(of) for of in self.near.values()]
        right = set()
        for a, b, jaccard, a_in_b, b_in_a in self.pairs:
            for one, other, share in ((a, b, a_in_b), (b, a, b_in_a)):
                if one in dropped and other not in dropped and (jaccard >= 0.7 or share >= 0.9):
                    right.add(one)
        return *found, 100 * len(right) / max(1, len(dropped))


def version(tool):
    if tool.startswith("ndd"):
        return subprocess.run(["ndd", "--version"], check=True, capture_output=True, text=True).stdout.split("\n")[0].removeprefix("ndd ")
    if tool == "text-dedup":
        show = "import importlib.metadata; print(importlib.metadata.version('text-dedup'))"
        return subprocess.run([os.environ["TEXT_DEDUP_PYTHON"], "-c", show], check=True, capture_output=True, text=True).stdout.strip()
    return importlib.metadata.version(tool)


def spread(values):
    mean = f"{sum(values) / len(values):.2f}"
    return mean if len(values) == 1 else f"{mean} ({min(values):.2f}-{max(values):.2f})"


def main(folder, tools):
    size, truth = sum(len(d["text"].encode()) for d in documents(folder)), Truth(folder)
    print(f"{sum(1 for _ in documents(folder)):,} documents, {size / 1e6:.0f} MB of text\n")
    heads = [f"near pairs, {lang}, %" for lang in truth.near] + ["right drops, %"]
    print(f"{'':16} {'dropped':>8} {' '.join(f'{h:>22}' for h in heads)} {'processor s':>12} {'MB':>6}  version")
    for tool in tools or TOOLS:
        runs = []
        for key in range(KEYS if tool.startswith("ndd dedup") else 1):
            done = subprocess.run([sys.executable, __file__, "--one", folder, tool, str(key)], capture_output=True, text=True)
            if done.returncode:
                print(f"{tool:16} {done.stderr.strip().splitlines()[-1]}")
                break
            runs.append(json.loads(done.stdout.splitlines()[-1]))
        else:
            scores = zip(*(truth.score(set(r["dropped"])) for r in runs))
            dropped, seconds, megabytes = (sum(of) / len(runs) for of in zip(*((len(r["dropped"]), r["seconds"], r["megabytes"]) for r in runs)))
            print(f"{tool:16} {dropped:8,.0f} {' '.join(f'{spread(s):>22}' for s in scores)} {seconds:12.1f} {megabytes:6.0f}  {version(tool)}")


def one(folder, tool, key):
    dropped = TOOLS[tool](folder, key) if tool.startswith("ndd dedup") else TOOLS[tool](folder)
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    most = (children if tool.startswith("ndd") else own).ru_maxrss / 1024
    print(json.dumps({"dropped": sorted(dropped), "seconds": seconds, "megabytes": max(most, children.ru_maxrss / 1024)}))


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        one(*sys.argv[2:])
    else:
        main(sys.argv[1], sys.argv[2:])
