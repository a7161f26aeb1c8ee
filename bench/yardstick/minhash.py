# MinHash with LSH, by datasketch, beside `ndd dedup` and `ndd eval --pairs`: processor time, memory, and
# how many of the labelled pairs it finds.
#
#	pip install datasketch
#	python3 bench/yardstick/minhash.py pairs.tsv docs.jsonl...
#
# pairs.tsv has the columns id_a, id_b, label, lang and jaccard; documents have the fields id, lang and text.
# Shingles are those of `ndd eval`: 3 words, or 5 characters of Chinese.
import csv
import json
import resource
import sys
import time

from datasketch import MinHash, MinHashLSH

HASHES, THRESHOLD = 128, 0.8


def shingles(lang, text):
    if lang.startswith("zh"):
        text = "".join(text.split())
        return {text[i:i + 5].encode() for i in range(max(1, len(text) - 4))}
    words = text.lower().split()
    return {" ".join(words[i:i + 3]).encode() for i in range(max(1, len(words) - 2))}


documents = [json.loads(line) for path in sys.argv[2:] for line in open(path, encoding="utf-8")]
size = sum(len(d["text"].encode()) for d in documents)
begun = time.process_time()
signatures = {}
for d in documents:
    signature = MinHash(num_perm=HASHES)
    signature.update_batch(shingles(d["lang"], d["text"]))
    signatures[d["id"]] = signature
signed = time.process_time()
lsh = MinHashLSH(threshold=THRESHOLD, num_perm=HASHES)
for id, signature in signatures.items():
    lsh.insert(id, signature)
candidates, alike = set(), set()
for id, signature in signatures.items():
    for other in lsh.query(signature):
        if other != id:
            pair = min(id, other), max(id, other)
            candidates.add(pair)
            if signature.jaccard(signatures[other]) >= THRESHOLD:
                alike.add(pair)
found = time.process_time()
print(f"{len(documents):,} documents, {size / 1e6:.0f} MB: signed in {signed - begun:.1f} s of processor time, "
      f"{size / 1e6 / (signed - begun):.1f} MB/s; compared in {found - signed:.1f} s; "
      f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at most")
with open(sys.argv[1], encoding="utf-8") as f:
    labelled = list(csv.DictReader(f, delimiter="\t"))
for name, pairs in ("candidates", candidates), (f"those with an estimate of {THRESHOLD} and more", alike):
    for lang in "en", "zh":
        near = [r for r in labelled if r["lang"] == lang and r["label"] == "same" and float(r["jaccard"] or 0) >= THRESHOLD]
        different = [r for r in labelled if r["lang"] == lang and r["label"] == "different"]
        hits, false = (sum((min(r["id_a"], r["id_b"]), max(r["id_a"], r["id_b"])) in pairs for r in rows) for rows in (near, different))
        print(f"{name}, {lang}: {hits} of {len(near)} found, {100 * hits / max(1, len(near)):.1f} %; {false} of {len(different)} different ones")
