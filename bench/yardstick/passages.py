# Repeated sentences and items of evaluations in the same corpus, by ndd and by datatrove, side by side: processor time,
# memory, the text that goes, and which documents with planted items are found.
#
#	pip install ndd 'datatrove[processing]' orjson spacy
#	python3 bench/yardstick/passages.py FOLDER MEGABYTES [TOOL...]
#
# FOLDER has English documents as *.jsonl, with the fields id and text, of which the first MEGABYTES are taken. Items are
# invented of words of these texts behind one instruction of 14 words. To every tenth document an item is added, whole,
# with one word of each 15 changed, or a short one with one word of 16 changed, in turn; to as many others the instruction
# alone, with another question: these should stay. Each tool runs in a process of its own, with one worker.
import collections
import glob
import importlib.metadata
import json
import os
import random
import resource
import subprocess
import sys
import tempfile

FAMILIES = ["whole", "changed", "short", "instruction"]


def plant(folder, megabytes, to):
    """Writes docs.jsonl and items.jsonl to a folder, and returns the family of each document with something planted."""
    texts, size = [], 0
    for path in sorted(glob.glob(os.path.join(folder, "*.jsonl"))):
        for line in open(path, encoding="utf-8"):
            if size < megabytes * 1e6:
                texts.append(json.loads(line)["text"])
                size += len(texts[-1].encode())
    chance = random.Random(1)
    vocabulary = sorted({w for t in texts for w in t.split() if w.isalpha() and w.isascii()})
    words = lambda n: [chance.choice(vocabulary) for _ in range(n)]
    instruction, families, items = words(14), {}, []
    for i in range(0, len(texts), 5):
        family = FAMILIES[3] if i % 10 else FAMILIES[i // 10 % 3]
        question = words(16 if family == "short" else 45)
        text = list(question)
        if family == "changed":
            text[7::15] = words(len(text[7::15]))
        if family == "short":
            text[8] = "otherwise"
        if family == "instruction":
            text = words(45)
        if family != "short":
            question, text = instruction + question, instruction + text
        items.append({"id": f"q{i}", "question": " ".join(question), "answer": "none"})
        texts[i] += "\n\n" + " ".join(text) + ".\n"
        families[f"d{i}"] = family
    for name, rows in ("docs", ({"id": f"d{i}", "text": t} for i, t in enumerate(texts))), ("items", items):
        with open(f"{to}/{name}.jsonl", "w", encoding="utf-8") as f:
            f.writelines(json.dumps(row) + "\n" for row in rows)
    return families


def documents(*paths):
    for path in paths:
        with open(path, encoding="utf-8") as f:
            yield from map(json.loads, f)


def ndd(*flags):
    def run(folder):
        command = ["ndd", *flags, "-q", "--threads", "1", "--write-kept", folder + "/kept", folder + "/docs.jsonl"]
        command += ["--evals", folder + "/items.jsonl"] if flags[0] == "decontaminate" else []
        subprocess.run(command, check=True)
        return [folder + "/kept/docs.jsonl"]

    return run


def execute(folder, *steps):
    from datatrove.executor import LocalPipelineExecutor

    for i, step in enumerate(steps):
        LocalPipelineExecutor(step, tasks=1, workers=1, logging_dir=f"{folder}/logs{i}", skip_completed=False).run()
    return sorted(glob.glob(folder + "/out/*"))


def reader(folder):
    from datatrove.pipeline.readers import JsonlReader

    return JsonlReader(folder, glob_pattern="docs.jsonl", id_key="id", text_key="text")


def sentences(folder):
    from datatrove.pipeline.dedup import SentDedupConfig, SentenceDedupFilter, SentenceDedupSignature, SentenceFindDedups
    from datatrove.pipeline.writers import JsonlWriter

    config = SentDedupConfig(n_sentences=3, min_doc_words=0, min_num_sentences=0)
    return execute(
        folder,
        [reader(folder), SentenceDedupSignature(folder + "/signatures", config=config)],
        [SentenceFindDedups(folder + "/signatures", folder + "/duplicates", config=config)],
        [reader(folder), SentenceDedupFilter(folder + "/duplicates", config=config), JsonlWriter(folder + "/out", compression=None)],
    )


def ngrams(folder):
    import numpy as np
    from datatrove.pipeline.decont.n_grams import NGramsDecontConfig, NGramsDecontFilter, ngrams, simplify_text
    from datatrove.pipeline.writers import JsonlWriter

    # The index is that of NGramsDecontIndexer with find_query_ngrams, which would load lighteval.
    config = NGramsDecontConfig(find_query_ngrams=True)
    step, hashes = NGramsDecontFilter(folder + "/index", config=config), set()
    for item in documents(folder + "/items.jsonl"):
        tokens = step.tokenizer.word_tokenize(simplify_text(item["question"], config.norm_config))
        hashes.update(step.hash_func(" ".join(g)) for g in ngrams(tokens, config.n_grams))
    os.mkdir(folder + "/index")
    np.array(list(hashes), dtype=config.hash_config.np_descr).tofile(folder + "/index/items.index.hashes")
    return execute(folder, [reader(folder), step, JsonlWriter(folder + "/out", compression=None)])


TOOLS = {
    "ndd passages": ndd("passages", "--unit", "sentences=3", "--ignore", "case,space,digits", "--min-chars", "1"),
    "datatrove sentences": sentences,
    "ndd decontaminate": ndd("decontaminate"),
    "datatrove n-grams": ngrams,
}


def main(folder, megabytes, tools):
    with tempfile.TemporaryDirectory() as to:
        families = plant(folder, megabytes, to)
        before = list(documents(to + "/docs.jsonl"))
        size = sum(len(d["text"].encode()) for d in before)
        print(f"{len(before):,} documents, {size / 1e6:.1f} MB of text, {len(families):,} with something planted; "
              f"ndd {subprocess.run(['ndd', '--version'], capture_output=True, text=True).stdout.splitlines()[0].split()[-1]}, "
              f"datatrove {importlib.metadata.version('datatrove')}\n")
        print(f"{'':20} {'processor s':>12} {'MB/s':>7} {'MB':>6} {'text gone, %':>13}" + "".join(f"{f:>12}" for f in FAMILIES))
        for tool in tools or TOOLS:
            with tempfile.TemporaryDirectory() as work:
                for name in "docs.jsonl", "items.jsonl":
                    os.link(f"{to}/{name}", f"{work}/{name}")
                done = subprocess.run([sys.executable, __file__, "--one", work, tool], capture_output=True, text=True)
                if done.returncode:
                    print(f"{tool:20} {done.stderr.strip().splitlines()[-1]}")
                    continue
                r = json.loads(done.stdout.splitlines()[-1])
                kept = {d["id"]: d["text"] for d in documents(*r["files"])}
            gone = 100 * (1 - sum(len(t.encode()) for t in kept.values()) / size)
            print(f"{tool:20} {r['seconds']:12.1f} {size / 1e6 / r['seconds']:7.2f} {r['megabytes']:6.0f} {gone:13.2f}", end="")
            if "decontaminate" in tool or "n-grams" in tool:
                all_of, dropped = collections.Counter(families.values()), collections.Counter(f for d, f in families.items() if d not in kept)
                print("".join(f"{dropped[f] / all_of[f]:12.3f}" for f in FAMILIES), end="")
            print()


def one(folder, tool):
    files = TOOLS[tool](folder)
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    most = children.ru_maxrss if tool.startswith("ndd") else max(own.ru_maxrss, children.ru_maxrss)
    print(json.dumps({"files": files, "seconds": seconds, "megabytes": most / 1024}))


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        one(*sys.argv[2:])
    else:
        main(sys.argv[1], float(sys.argv[2]), sys.argv[3:])
