"""What /openapi.json cannot say in a schema, for schemathesis: what a document long enough is, that a
binary body is whole integers, and which parameters a body of each kind wants."""

import schemathesis
from hypothesis import strategies as st

words = st.lists(st.text("abcdefghijklmnopqrstuvwxyzäöß", min_size=3, max_size=9), min_size=20, max_size=60, unique=True)
texts = words.map(" ".join)
pages = texts.map(lambda text: "<!DOCTYPE html><title>page</title><body><p>" + text)

schemathesis.openapi.format("document-text", texts)
schemathesis.openapi.format("document-html", pages)
schemathesis.openapi.media_type("text/plain", texts.map(str.encode))
schemathesis.openapi.media_type("text/html", pages.map(str.encode))
schemathesis.openapi.media_type("application/octet-stream", st.integers(1, 40).flatmap(lambda n: st.binary(min_size=8 * n, max_size=8 * n)))


@schemathesis.hook
def map_case(context, case):
    """A document that is the whole body needs an id beside it."""
    takes_id = any(p.name == "id" for p in case.operation.query)
    if not takes_id or case.meta.generation.mode.is_negative:
        return case
    if case.media_type in ("text/plain", "text/html"):
        case.query.setdefault("id", "beside")
    return case


@schemathesis.hook
def filter_case(context, case):
    """Each document of a list has a status of its own: a bad text or page does not refuse the request."""
    if not case.meta.generation.mode.is_negative or not isinstance(case.body, dict):
        return True
    documents = case.body.get("documents")
    return not (isinstance(documents, list) and documents and all(isinstance(d, dict) for d in documents))
