"""Find and remove near-duplicate documents.

    import ndd

    result = ndd.dedup("crawl/*.jsonl.gz")        # files, folders and globs
    result = ndd.dedup(table, text="body")        # a table, frame, dataset, relation, column, list or iterator
    clean = result.filter()                       # the same kind of object, without the near-duplicates
    result.dropped                                # a table of the dropped documents, and of those kept for them

Everything runs in the program ndd, which this package has with it. Arguments have the names of its flags
(``ndd dedup --help``). pyarrow is needed for tables, and numpy for fingerprints.
"""
from ._binary import find_ndd
from ._errors import CorruptError, NddError, ServerError, UsageError
from ._jobs import Result, Stats, copies, decontaminate, dedup, fingerprint, passages
from ._server import Client, Index

__all__ = ["Client", "CorruptError", "Index", "NddError", "Result", "ServerError", "Stats", "UsageError", "copies", "decontaminate", "dedup", "find_ndd", "fingerprint", "passages"]
