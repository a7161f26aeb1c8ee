"""Is not run, but checked by mypy and pyright: what editors know about the package."""
from pathlib import Path
from typing import Any, Iterator, assert_type

import ndd
import ndd.spark
from pyspark.sql import DataFrame


def documents() -> Iterator[str]:
    yield "a text"


assert_type(ndd.dedup(["a", "b"]).filter(), list[str])
assert_type(ndd.dedup("crawl/*.jsonl", write_kept=Path("clean"), keep=["newest", "longest"], max_drop="60%").filter(), str)
assert_type(ndd.dedup(documents(), threshold=0.8, k=3).stats["equal"], int)
assert_type(ndd.dedup(Path("crawl"), against=[Path("index"), "more.ndf"]).report("page"), str)


def spark(df: DataFrame) -> None:
    clean = ndd.spark.dedup(df, text="body", keep=["newest", "longest"], join="shuffle")
    assert_type(clean.decisions, DataFrame)
    assert_type(clean.stats["empty"], int)
    clean.where("n > 1").write.parquet("clean")
    ndd.spark.dedup(df, join="two")  # type: ignore[arg-type]


with ndd.Index("seen", k=4, ttl="90d") as index:
    assert_type(index, ndd.Index)
    assert_type(index.check_and_insert("a text", id="a"), dict[str, Any])
    assert_type(index.delete(ids=["a"]), int)

ndd.dedup(["a"], input_format="cvs")  # type: ignore[arg-type]
ndd.dedup(["a"], treshold=0.8)  # type: ignore[call-arg]
ndd.copies(["a"], threshold="high")  # type: ignore[arg-type]
ndd.Index("seen", k="3")  # type: ignore[arg-type]
