import random

import pytest

WORDS = ["".join(random.Random(i).choices("abcdefghijklmnoprstuvw", k=3 + i % 7)) for i in range(2000)]
KEPT = [i for i in range(60) if i % 3 != 2]


def text(seed, words=120):
    return " ".join(random.Random(seed).choices(WORDS, k=words))


@pytest.fixture
def texts():
    """Returns 60 texts: those at 3i + 2 are the ones at 3i with one word changed."""
    out = []
    for i in range(20):
        near = text(i).split()
        near[50] = "changed"
        out += [text(i), text(1000 + i), " ".join(near)]
    return out


def pytest_configure(config):
    config.addinivalue_line("markers", "long: needs large libraries, or Java; run by .ci/python/run long")
