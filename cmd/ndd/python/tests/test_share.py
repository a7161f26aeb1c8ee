"""Shares of documents, which ndd.datatrove and ndd.ray have in common."""
import pytest

import ndd
from conftest import corpus, text

pytest.importorskip("pyarrow")
from ndd import _steps  # noqa: E402


def shares(texts, folder, count, options=None):
    """Writes the files of shares of texts, whose IDs are their numbers, and returns their paths and the numbers of each share."""
    paths, numbers = [], [range(len(texts))[i * len(texts) // count : (i + 1) * len(texts) // count] for i in range(count)]
    for share in numbers:
        paths.append(folder / f"{len(paths)}.ndf")
        digest, skipped = _steps.stream(paths[-1], len(paths) - 1, ((texts[i], i) for i in share), options or {})
        assert (digest.count, skipped) == (len(share), 0)
    return paths, numbers


@pytest.mark.parametrize("options", [{}, {"keep": "longest", "threshold": 0.8}, {"k": 3}])
def test_decisions_are_those_of_one_machine(tmp_path, options):
    texts = [document["text"] for document in corpus()]
    paths, numbers = shares(texts, tmp_path, 4)
    found = [(numbers[share][row["row"]], row["id"], numbers[row["kept_share"]][row["kept_row"]], row["kept_id"], row["distance"], row["similarity"])
             for share, table in enumerate(_steps.divide(_steps.decide(paths, options), 4)) for row in table.to_pylist()]
    wanted = sorted(ndd.dedup(texts, **options).dropped.to_pylist(), key=lambda row: row["row"])
    assert found == [(row["row"], str(row["row"]), row["kept_row"], str(row["kept_row"]), row["distance"], row["jaccard"]) for row in wanted]
    assert 100 < len(found) < 300


def test_skipped_and_odd_documents(texts, tmp_path):
    odd = [(texts[0], "a b\tc\n\ud800"), ("word " * 1000, "large"), (texts[2], "x" * 40_000), ("\ud800 lone", "")]
    digest, skipped = _steps.stream(tmp_path / "0.ndf", 0, odd, {"max_document": "4KiB"})
    assert (digest.count, skipped) == (4, 1)
    assert [(row["row"], row["id"], row["kept_id"]) for table in _steps.divide(_steps.decide([tmp_path / "0.ndf"], {}), 1) for row in table.to_pylist()] == [
        (2, "x" * 1000, "a b\tc\n\ufffd")]  # the large one moves no row


def test_no_file_of_half_a_share(texts, tmp_path):
    def documents():
        yield texts[0], 0
        raise KeyError("of the caller")

    with pytest.raises(KeyError):
        _steps.stream(tmp_path / "0.ndf", 0, documents(), {})
    with pytest.raises(ndd.UsageError, match="recipe"):
        _steps.stream(tmp_path / "0.ndf", 0, [(text(1), 0)] * 100_000, {"recipe": "none"})


def test_other_recipe(texts, tmp_path):
    (one, _), _ = shares(texts, tmp_path, 2)
    (tmp_path / "other").mkdir()
    (_, two), _ = shares(texts, tmp_path / "other", 2, {"recipe": "simhash"})
    with pytest.raises(ndd.CorruptError, match="recipe simhash"):
        list(_steps.decide([one, two], {}))
