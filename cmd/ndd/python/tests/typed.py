"""Is not run, but checked by mypy and pyright: what editors know about the package."""
from pathlib import Path
from typing import Any, Iterator, assert_type

import ndd


def documents() -> Iterator[str]:
    yield "a text"


assert_type(ndd.dedup(["a", "b"]).filter(), list[str])
assert_type(ndd.dedup("crawl/*.jsonl", write_kept=Path("clean"), keep=["newest", "longest"], max_drop="60%").filter(), str)
assert_type(ndd.dedup(documents(), threshold=0.8, k=3).stats["equal"], int)
assert_type(ndd.dedup(Path("crawl"), against=[Path("index"), "more.ndf"]).report("page"), str)

with ndd.Index("seen", k=4, ttl="90d") as index:
    assert_type(index, ndd.Index)
    assert_type(index.check_and_insert("a text", id="a"), dict[str, Any])
    assert_type(index.delete(ids=["a"]), int)

ndd.dedup(["a"], input_format="cvs")  # type: ignore[arg-type]
ndd.dedup(["a"], treshold=0.8)  # type: ignore[call-arg]
ndd.copies(["a"], threshold="high")  # type: ignore[arg-type]
ndd.Index("seen", k="3")  # type: ignore[arg-type]
