"""Find and remove near-duplicate documents, exactly and in little memory.

    import ndd

    result = ndd.dedup("crawl/*.jsonl.gz")        # files, folders and patterns
    result = ndd.dedup(table, text="body")        # a pyarrow Table, a pandas or polars frame, a datasets.Dataset
    clean = result.filter()                       # the same kind of thing, without the near-duplicates
    result.dropped                                # a table: what went, for which document, at which distance

Everything runs in the program ndd, which this package brings along; arguments have the names of its flags
(``ndd dedup --help``). pyarrow and numpy are used if they are installed.
"""
from ._binary import find_ndd
from ._errors import CorruptError, NddError, ServerError, UsageError
from ._jobs import Result, copies, decontaminate, dedup, fingerprint, passages
from ._server import Client, Index

__all__ = ["Client", "CorruptError", "Index", "NddError", "Result", "ServerError", "UsageError", "copies", "decontaminate", "dedup", "find_ndd", "fingerprint", "passages"]
