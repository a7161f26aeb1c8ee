"""Fingerprints by the definitions that `go doc` of the packages token and simhash give, and by nothing else.

    recipes.py NDD FOLDER     compares them with those of the program NDD for 1,000 texts of many languages, in FOLDER

Word boundaries are those of the package uniseg.
"""
import json
import math
import os
import random
import subprocess
import sys
import unicodedata

from uniseg.wordbreak import words as boundaries

M64 = (1 << 64) - 1

CONTINUOUS = """E01-E3A E40-E4E E81-E82 E84 E86-E8A E8C-EA3 EA5 EA7-EBD EC0-EC4 EC6 EC8-ECE EDC-EDF 1000-103F 1050-108F 109A-109D
    1780-17D3 17D7 17DC-17DD 3005 3007 303B 3041-3096 309D-309F 30A1-30FA 30FC-30FF 31F0-31FF 3400-4DBF 4E00-9FFF A9E0-A9EF A9FA-A9FE
    AA60-AA76 AA7A-AA7F F900-FA6D FA70-FAD9 FF66-FF6F FF71-FF9D 16FE3 16FF0-16FF1 1AFF0-1AFF3 1AFF5-1AFFB 1AFFD-1AFFE 1B000-1B122 1B132
    1B150-1B152 1B155 1B164-1B167 20000-2A6DF 2A700-2B739 2B740-2B81D 2B820-2CEA1 2CEB0-2EBE0 2F800-2FA1D 30000-3134A 31350-323AF"""
continuous = set()
for part in CONTINUOUS.split():
    first, _, last = part.partition("-")
    continuous.update(map(chr, range(int(first, 16), int(last or first, 16) + 1)))


def invisible(c):
    return (unicodedata.category(c) == "Cf" or c == "\u034f" or "\u180b" <= c <= "\u180d" or c == "\u180f" or "\ufe00" <= c <= "\ufe0f"
            or "\U000e0100" <= c <= "\U000e01ef")


# The second characters of compositions.
seconds = set(map(chr, [*range(0x1161, 0x1176), *range(0x11a8, 0x11c3)]))
for parts in map(unicodedata.decomposition, map(chr, range(0x110000))):
    pair = "<" not in parts and "".join(chr(int(x, 16)) for x in parts.split())
    if pair and len(pair) == 2 and unicodedata.normalize("NFC", pair) != pair:
        seconds.add(pair[1])


def begins(c):
    form = unicodedata.normalize("NFKC", c)[0]
    return not (invisible(c) or unicodedata.combining(c) or unicodedata.combining(form) or form in seconds
                or "\U00010000" <= c <= "\U0001ffff" and unicodedata.category(c)[0] == "M")


def bounded(s):
    row = 0
    for c in s:
        row = 0 if begins(c) else row + 1
        if row <= 8:
            yield c


def fold(c):
    if "\u13a0" <= c <= "\u13ef":
        return chr(ord(c) - 0x13a0 + 0xab70)
    if "\u13f0" <= c <= "\u13f5":
        return chr(ord(c) + 8)
    return c.casefold()


def normal(s):
    s = "".join(map(fold, unicodedata.normalize("NFKC", "".join(bounded(s)))))
    s = "".join(c for c in s if not invisible(c))
    return unicodedata.normalize("NFKC", s).replace("\u2019", "'")


def pieces(text):
    piece = ""
    for c in text:
        if c <= "\x7f" and not c.isalnum() and c not in "_:.',;\"":
            yield piece
            piece = ""
        else:
            piece += c
    yield piece


def tokens(text):
    """Yields the bytes of each token and whether it is a character."""
    for piece in pieces(text):
        spaced = ""
        for c in normal(piece) + "\0":
            if c != "\0" and c not in continuous:
                spaced += c
                continue
            for word in boundaries(spaced):
                if any(unicodedata.category(x)[0] in "LN" for x in word):
                    yield word.encode(), False
            spaced = ""
            if c != "\0":
                yield c.encode(), True


def mix(x):
    x = (x + 1) * 0x9e3779b97f4a7c15 & M64
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & M64
    x = (x ^ x >> 27) * 0x94d049bb133111eb & M64
    return x ^ x >> 31


def mum(a, b):
    return a * b >> 64 ^ a * b & M64


def pair(a, b):
    return mum(a ^ 0x243f6a8885a308d3, b ^ 0x13198a2e03707344)


def words64(b):
    b += bytes(-len(b) % 8)
    return [int.from_bytes(b[i:i + 8], "little") for i in range(0, len(b), 8)]


def mum_hash(token, k):
    padded, h = words64(token + bytes(-len(token) % 16)), 0
    for lo, hi in zip(padded[::2], padded[1::2]):
        h = mum(lo ^ h ^ k[0], hi ^ k[1])
    return mum(h ^ k[2], len(token) ^ k[3])


def minwise(text, r):
    k = [mix(w) for w in words64(bytes.fromhex(r["key"]))]
    winner = [None] * 64

    def feature(h, weight):
        if weight:
            rank = (h & (1 << 58) - 1) * -(-(1 << 59) // weight) >> 59
            if winner[h >> 58] is None or rank < winner[h >> 58]:
                winner[h >> 58] = rank

    last = None
    for token, char in tokens(text):
        h = mum_hash(token, k)
        feature(h, r["char_weight" if char else "word_weight"])
        if last:
            feature(pair(last[0], h), r.get("char_pair_weight" if char or last[1] else "word_pair_weight", 0))
        last = h, char
    if sum(w is not None for w in winner) < r["min_bins"]:
        return None
    fp = 0
    for j in range(64):
        w, t = winner[j], 1
        while w is None:
            w, t = winner[mix(64 * t + j) >> 58], t + 1
        fp |= (w * (mix(j) | 1) & M64) >> 63 << j
    return fp


def highway(data, key):
    """HighwayHash-64, as its authors publish it."""
    mul0 = [0xdbe6d5d5fe4cce2f, 0xa4093822299f31d0, 0x13198a2e03707344, 0x243f6a8885a308d3]
    mul1 = [0x3bd39e10cb0ef593, 0xc0acf169b5f18a8c, 0xbe5466cf34e90c6c, 0x452821e638d01377]
    half = lambda x: x >> 32 | (x & 0xffffffff) << 32
    v0 = [m ^ w for m, w in zip(mul0, key)]
    v1 = [m ^ half(w) for m, w in zip(mul1, key)]

    def zipper(b, a):
        low = [(a, 3), (b, 4), (a, 2), (a, 5), (b, 6), (a, 1), (b, 7), (a, 0)]
        high = [(b, 3), (a, 4), (b, 2), (b, 5), (b, 1), (a, 6), (b, 0), (a, 7)]
        return [sum((x >> 8 * i & 0xff) << 8 * at for at, (x, i) in enumerate(order)) for order in (low, high)]

    def update(lanes):
        for i in range(4):
            v1[i] = v1[i] + mul0[i] + lanes[i] & M64
            mul0[i] ^= (v1[i] & 0xffffffff) * (v0[i] >> 32)
            v0[i] = v0[i] + mul1[i] & M64
            mul1[i] ^= (v0[i] & 0xffffffff) * (v1[i] >> 32)
        for to, of in (v0, v1), (v1, v0):
            for i in 0, 2:
                a, b = zipper(of[i + 1], of[i])
                to[i], to[i + 1] = to[i] + a & M64, to[i + 1] + b & M64

    whole = len(data) & ~31
    for i in range(0, whole, 32):
        update(words64(data[i:i + 32]))
    if rest := data[whole:]:
        n = len(rest)
        packet = bytearray(32)
        packet[:n & ~3] = rest[:n & ~3]
        if n & 16:
            packet[28:] = rest[-4:]
        elif n & 3:
            tail = rest[n & ~3:]
            packet[16:19] = bytes([tail[0], tail[len(tail) >> 1], tail[-1]])
        rotate = lambda x: (x << n | x >> 32 - n) & 0xffffffff
        for i in range(4):
            v0[i] = v0[i] + (n << 32) + n & M64
            v1[i] = rotate(v1[i] >> 32) << 32 | rotate(v1[i] & 0xffffffff)
        update(words64(bytes(packet)))
    for _ in range(4):
        update([half(v0[i]) for i in (2, 3, 0, 1)])
    return v0[0] + v1[0] + mul0[0] + mul1[0] & M64


def simhash(text, r):
    key, seen = words64(bytes.fromhex(r["key"])), {}
    counts = {False: {}, True: {}}

    def shingles(run, char):
        n = r["char_shingle" if char else "word_shingle"]
        for i in range(max(len(run) - n + 1, 1) if run else 0):
            h = run[i]
            for other in run[i + 1:i + n]:
                h = pair(h, other)
            counts[char][h] = counts[char].get(h, 0) + 1

    run, kind = [], False
    for token, char in tokens(text):
        if char != kind:
            shingles(run, kind)
            run, kind = [], char
        if token not in seen:
            seen[token] = max(highway(token, key), 1)
        run.append(seen[token])
    shingles(run, kind)
    if len(counts[False]) + len(counts[True]) < r["min_features"]:
        return None
    weigh = {"tf": lambda t: 8 * t, "sqrt-tf": lambda t: math.isqrt(64 * t), "log-tf": lambda t: 8 * t.bit_length(), "binary": lambda t: 8}
    votes = [0] * 64
    for char, times in counts.items():
        for h, t in times.items():
            w = weigh[r["char_weights" if char else "word_weights"]](t)
            for bit in range(64):
                votes[bit] += w if h >> bit & 1 else -w
    return sum(1 << bit for bit in range(64) if votes[bit] > 0)


def texts():
    """Yields 1,000 texts: of the letters, marks, digits and signs of many scripts, and of English."""
    r = random.Random(1)
    blocks = [(0x20, 0x7e), (0xa0, 0x24f), (0x300, 0x36f), (0x370, 0x3ff), (0x400, 0x52f), (0x5d0, 0x5ea), (0x620, 0x669), (0x904, 0x96f), (0xe01, 0xe5b),
              (0xe81, 0xedf), (0x1000, 0x109d), (0x1780, 0x17e9), (0x13a0, 0x13fd), (0xab70, 0xabbf), (0x1e00, 0x1fff), (0x2010, 0x206f), (0x2460, 0x24ff),
              (0x3001, 0x3020), (0x3041, 0x30ff), (0x4e00, 0x4fff), (0xac00, 0xacff), (0xf900, 0xfa6d), (0xfe00, 0xfe0f), (0xff01, 0xff9d), (0x1f600, 0x1f64f)]
    chars = [[c for c in map(chr, range(a, b + 1)) if unicodedata.category(c) != "Cn"] for a, b in blocks]
    english = "the river's 3.14 boats, e.g. at U.S. ports: 1,000 sails_and ropes; don't \u201cquote\u201d na\u00efve caf\u00e9s \ufb01n soft\u00adhyphen zero\u200bwidth".split()
    for i in range(1000):
        alphabets = r.sample(chars, r.randint(1, 3))
        out = []
        for _ in range(r.randint(5, 120)):
            if i % 4 == 0:
                out.append(r.choice(english))
            else:
                out.append("".join(r.choice(r.choice(alphabets)) for _ in range(r.randint(1, 9))) + r.choice(["", "\u030a", "\u0301", "\u034f", ".", "\u30fc"]))
        yield r.choice([" ", " ", ", ", "\n", ""]).join(out).strip() or "x"


def main(ndd, folder):
    all_texts = list(texts())
    with open(os.path.join(folder, "texts.jsonl"), "w") as f:
        for i, text in enumerate(all_texts):
            f.write(json.dumps({"id": i, "text": text}) + "\n")
    for name, made in ("minwise", minwise), ("minwise-pairs", minwise), ("simhash", simhash):
        args = [ndd, "fingerprint", "-q", "--recipe", name]
        recipe = json.loads(subprocess.run(args + ["--show-recipe"], check=True, capture_output=True).stdout)
        lines = subprocess.run(args + [f.name], check=True, capture_output=True, text=True).stdout.splitlines()
        wrong = 0
        for line, text in zip(lines, all_texts, strict=True):
            fp = made(text, recipe)
            want = "-" * 16 if fp is None else f"{fp:016x}"
            if line.split("\t")[0] != want:
                wrong += 1
                if wrong < 5:
                    print(f"{name}: {line}, here {want}: {text!r}")
        print(f"{name}: {len(lines)} texts, {wrong} have another fingerprint")
        if wrong:
            sys.exit(1)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), sys.argv[2])
