import functools
import json
import os
import selectors
import socket
import sys
import tempfile
import threading
import time
import weakref

from typing import Any, Iterable, Literal, TypeVar

from . import _process
from ._arguments import Count, Distance, Path, Share, Size, checked, given
from ._errors import NddError, ServerError, UsageError
from ._sources import utf8

LOCK_WAIT = 5  # seconds in which another server of the index may end
WAIT = 600  # seconds for an index to be loaded


Answer = dict[str, Any]
Fingerprint = int | str | None  # a number, or 16 hexadecimal digits
Self = TypeVar("Self", bound="Client")


class Client:
    """Talks to a server that ``ndd serve`` runs. Threads, forked processes and pickled copies may use it, too.

    url is http://, https:// or unix:PATH. token is one of the server's token file. timeout is the number of seconds that
    a connection may be silent. Every method raises ServerError with the server's message; the next call is not affected.

    A request is sent up to attempts times: if the server is busy or cannot be reached, and if the answer is lost, where
    repeating is harmless. That is so for queries and for check_and_insert with an id. After a lost answer to another
    call, the error says that its outcome is unknown.
    """

    def __init__(self, url: str = "http://127.0.0.1:7744", *, token: str | None = None, timeout: float = 60, attempts: int = 5, context: Any = None) -> None:
        self._url, self._token, self._timeout, self._attempts, self._context = url.rstrip("/"), token, timeout, attempts, context
        self._local = threading.local()

    def __reduce__(self) -> Any:
        options = {"token": self._token, "timeout": self._timeout, "attempts": self._attempts, "context": self._context}
        return functools.partial(Client, self._url, **options), ()

    @property
    def url(self) -> str:
        """The address, for Clients of other processes of this machine."""
        return self._url

    def query(self, text: str | None = None, *, html: str | None = None, fingerprint: Fingerprint = None, k: Distance | None = None, limit: Count | None = None) -> Answer:
        """Returns the stored documents near one: {"fingerprint", "k", "documents", "hits": [{"distance", "ids", ...}]}.

        Each hit has "similarity", the estimated Jaccard similarity to the nearest of its documents, or None; and "verified",
        which says whether all have been verified by sketches: a query by fingerprint has none. Example::

            for hit in index.query(text)["hits"]: print(hit["ids"], hit["similarity"])

        Args:
            text: The document, or html or fingerprint, a number or 16 hexadecimal digits.
            k: Maximum Hamming distance in bits. Default: that of the index.
            limit: Maximum number of IDs.
        """
        return _verified(self._post("/v1/query", {**_subject(text, html, fingerprint), "k": k, "limit": limit}))

    def insert(self, text: str | None = None, *, id: str | None = None, html: str | None = None, fingerprint: Fingerprint = None, ttl: str | None = None) -> Answer:
        """Adds a document and returns what became of it. A document with the same id is replaced."""
        return self._post("/v1/insert", {**_subject(text, html, fingerprint), "id": id, "ttl": ttl})

    def insert_many(self, documents: Iterable[dict[str, Any]]) -> list[Answer]:
        """Adds documents, dicts with text, html or fingerprint, id and ttl, and returns a list of what became of each.

        A document that is too short or too large has "status" and "error" in its result; the others are added.
        """
        return self._many("/v1/insert", documents, {})

    def check_and_insert(
        self, text: str | None = None, *, id: str | None = None, html: str | None = None, fingerprint: Fingerprint = None, k: Distance | None = None,
        ttl: str | None = None,
    ) -> Answer:
        """Adds a document unless one near it is stored: ["inserted"] says which, ["hits"] what it is near, as query does."""
        return _verified(self._post("/v1/check-and-insert", {**_subject(text, html, fingerprint), "id": id, "k": k, "ttl": ttl}))

    def check_and_insert_many(self, documents: Iterable[dict[str, Any]], *, k: Distance | None = None) -> list[Answer]:
        """The same for several documents, decided in order; returns a list, as insert_many does."""
        return [_verified(answer) for answer in self._many("/v1/check-and-insert", documents, {"k": k})]

    def delete(self, id: str | None = None, *, ids: Iterable[str] | None = None, fingerprint: Fingerprint = None) -> int:
        """Deletes documents by id, ids or fingerprint, and returns how many there were."""
        body = {"id": id, "ids": None if ids is None else list(ids), "fingerprint": _hex(fingerprint)}
        return self._post("/v1/delete", body)["deleted"]

    def batch(self, fingerprints: Any, *, k: Distance | None = None) -> Any:
        """Returns all stored documents near any of many fingerprints, a numpy array of uint64 or a list of int.

        The result is a table with the columns query (the place in fingerprints), fingerprint (16 hexadecimal digits),
        distance and id: a pyarrow Table, or a list of dicts where pyarrow is not installed.
        """
        import array

        words = array.array("Q", fingerprints.astype("<u8").tobytes() if hasattr(fingerprints, "astype") else list(fingerprints))
        at_most, rows = self.stats()["limits"]["fingerprints"], []
        for at in range(0, len(words), at_most):
            part = words[at : at + at_most]
            if sys.byteorder == "big":
                part.byteswap()
            path = "/v1/batch" + ("" if k is None else f"?k={k}")
            answer = self._send("POST", path, part.tobytes(), {"Content-Type": "application/octet-stream", "Accept": "application/x-ndjson"})
            for line in answer.splitlines():
                row = json.loads(line)
                row["query"] += at
                rows.append(row)
        try:
            import pyarrow
        except ImportError:
            return rows
        schema = [("query", pyarrow.int64()), ("fingerprint", pyarrow.string()), ("distance", pyarrow.int64()), ("id", pyarrow.string())]
        return pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(schema))

    def get(self, id: str) -> Answer | None:
        """Returns the stored document with an id, or None."""
        from urllib.parse import quote

        try:
            return self._json("GET", "/v1/documents/" + quote(id, safe=""))
        except ServerError as e:
            if e.status == 404:
                return None
            raise

    def stats(self) -> Answer:
        """Returns the sizes and limits of the server."""
        return self._json("GET", "/v1/stats")

    def close(self) -> None:
        """Closes the connection of this thread. The next call opens another one."""
        connection = self._local.__dict__.pop("connection", None)
        if connection:
            connection.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *of: object) -> None:
        self.close()

    def _many(self, path, documents, rest):
        results, limits = [], None
        part, size = [], 0
        for d in map(_document, documents):
            limits = limits or self.stats()["limits"]
            n = len(_encode(d))
            if part and (len(part) == limits["documents"] or size + n > limits["body_bytes"] // 2):
                results += self._part(path, part, rest)
                part, size = [], 0
            part.append(d)
            size += n
        if part:
            results += self._part(path, part, rest)
        return results

    def _part(self, path, part, rest):
        """Sends documents in one request, or in several if they are too large together."""
        try:
            results = self._post(path, {"documents": part, **rest})["results"]
            for result in results:
                if result["status"] >= 500:  # the server broke off, as with a full disk: the call can be repeated
                    raise ServerError(result["error"], result["status"])
            return results
        except ServerError as e:
            if e.status != 413:
                raise
            if len(part) == 1:
                return [{"status": 413, "error": str(e), "inserted": False}]
        half = len(part) // 2
        return self._part(path, part[:half], rest) + self._part(path, part[half:], rest)

    def _post(self, path, body):
        body = {name: value for name, value in body.items() if value is not None}
        return self._json("POST", path, _encode(body), {"Content-Type": "application/json"}, _repeatable(path, body))

    def _json(self, *request):
        answer = self._send(*request)
        try:
            return json.loads(answer)
        except ValueError as e:
            raise ServerError(f"{self._url}: the answer is not JSON; is the server an ndd?") from e

    def _connection(self):
        """Returns this thread's connection: a new one if there is none, the process was forked, or the server has closed it."""
        here = self._local.__dict__
        connection = here.get("connection")
        if connection is None or here["pid"] != os.getpid() or connection.sock is not None and _readable(connection.sock):
            self._drop()
            connection = here["connection"] = _connect(self._url, self._timeout, self._context)
            here["pid"] = os.getpid()
        if connection.sock is None:
            connection.connect()
        return connection

    _drop = close

    def _send(self, method, path, body=None, headers={}, repeatable=True):
        """Sends a request and returns the body of its answer."""
        import http.client

        headers = dict(headers, **({"Authorization": f"Bearer {self._token}"} if self._token else {}))
        for attempt in range(self._attempts):
            sent, wait, last = False, 0.2 * 2**attempt, attempt == self._attempts - 1
            try:
                connection = self._connection()
                try:
                    connection.request(method, path, body, headers)
                    sent = True
                except ConnectionError:  # the server closes before it has the whole body: its answer says why
                    pass
                response = connection.getresponse()
                data = response.read()
            except (OSError, http.client.HTTPException) as e:
                self._drop()
                gone, unknown = self._gone(), sent and not repeatable
                if gone or unknown or last or isinstance(e, socket.timeout):
                    why = gone or f"{self._url}: {e or type(e).__name__}; does a server run there?"
                    raise ServerError(why + ("; whether the request was carried out is unknown" if unknown else "")) from e
                time.sleep(wait)
                continue
            if not sent:
                self._drop()
            if response.status in (408, 429, 503) and not last:
                time.sleep(_seconds(response.headers.get("Retry-After"), wait))
                continue
            if response.status >= 400:
                raise ServerError(_problem(self._url, response, data), response.status)
            return data

    def _gone(self):
        """Returns why there is no server any more, if that is known."""


def _readable(sock):
    """Reports whether there is something to read: between requests, that is the end of the connection."""
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(0))


def _repeatable(path, body):
    """Reports whether carrying a request out twice does no harm."""
    documents = body.get("documents", [body])
    return path == "/v1/query" or path == "/v1/check-and-insert" and all(d.get("id") is not None for d in documents)


def _encode(value):
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # an id with a lone surrogate, which the server refuses by name
        return json.dumps(value).encode()


def _seconds(header, default):
    """Returns how long to wait, in seconds, by a header Retry-After; a date in it is ignored."""
    return min(int(header), 30) if header and header.isdecimal() else default


def _problem(url, response, data):
    try:
        problem = json.loads(data)
        told = [problem["detail"]]
        for e in problem.get("errors", []):
            if e["message"] not in told[0]:
                told.append(f"{e['location']}: {e['message']}")
        return "; ".join(told)
    except (ValueError, KeyError, TypeError):
        if response.status == 404:
            return f"{url} has no such path: is the server an ndd, of this release or a later one?"
        return f"{url}: {response.status} {response.reason}"


def _connect(url, timeout, context):
    import http.client

    if url.startswith("unix:"):

        class Unix(http.client.HTTPConnection):
            def connect(self):
                self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                self.sock.settimeout(timeout)
                self.sock.connect(url[len("unix:") :])

        return Unix("localhost", timeout=timeout)
    scheme, _, host = url.partition("://")
    if scheme == "http":
        return http.client.HTTPConnection(host, timeout=timeout)
    if scheme == "https":
        return http.client.HTTPSConnection(host, timeout=timeout, context=context)
    raise UsageError(f"{url!r}: an address begins with http://, https:// or unix:")


def _verified(answer):
    """Adds to the hits of an answer what their similarities mean."""
    for hit in answer.get("hits") or []:
        similarities = hit.get("similarities") or [0]
        hit["similarity"], hit["verified"] = max(similarities) or None, min(similarities) > 0
    return answer


def _hex(fingerprint):
    return fingerprint if fingerprint is None or isinstance(fingerprint, str) else f"{int(fingerprint):016x}"


def _subject(text, html, fingerprint):
    given = _document({"text": text, "html": html, "fingerprint": fingerprint})
    if len(given) != 1:
        raise UsageError("give one of text, html and fingerprint")
    return given


def _document(fields):
    """Returns a document as the server wants it. A lone surrogate in a text becomes U+FFFD, as in dedup."""
    given = {name: value for name, value in fields.items() if value is not None}
    for name in given.keys() & {"text", "html"}:
        given[name] = utf8(given[name]).decode()
    if "fingerprint" in given:
        given["fingerprint"] = _hex(given["fingerprint"])
    return given


class Index(Client):
    """An index in a folder, with a server of its own that ends with this process, however that ends.

    The folder is made if it does not exist. Threads and forked processes may use the index; pickled, it is a Client of
    the same server. Only the process that opened it closes it, and all calls after that fail. If the server dies, every
    call says so. If another process has the index, it has 5 seconds to end. Example::

        with ndd.Index("seen") as index:
            if index.check_and_insert(text, id=url)["inserted"]: ...

    Args:
        path: The folder of the index.
        timeout: Seconds for the answer to a call.
        k: Maximum Hamming distance of queries in bits, 0 to 8, of a new index. Default: 3.
        recipe: Recipe of fingerprints of a new index: minwise, minwise-pairs, simhash or a file.
        design: Name of the design of a new index, such as "paper-10".
        threshold: Minimum similarity of a query and a hit, 0 to 1: the Jaccard similarity of the texts, as sketches estimate
            it. A document with a smaller similarity does not prevent an insert. 0 does not verify.
        private_key: Draw a secret key for a new index, against pages that are made to be near others.
        on_conflict: What happens to a document whose ID is stored: replace it, keep the stored one, or error.
        ttl: Time to keep new documents, such as "90d". Default: forever.
        sync: When changes are written to the disk: "always" or "never".
        checksums: full verifies all files when the index is opened; fast opens in milliseconds.
        accept_clock: Trust a clock that is more than a day off the last use.
        backup_dir: Folder for backups.
        memory: Limit in bytes without mapped files, or a text such as "4GiB". Default: the available memory.
        threads: Number of threads. Default: all processors.

    Raises:
        UsageError: An argument is unknown or wrong, or contradicts the index.
        CorruptError: The index is damaged.
        NddError: The index cannot be opened.
    """

    @checked
    def __init__(
        self, path: Path, *, timeout: float = 60, threshold: Share = 0.74, k: Distance | None = None, recipe: Path | None = None, design: str | None = None, private_key: bool = False,
        on_conflict: Literal["replace", "keep", "error"] = "replace", ttl: str | None = None, sync: str = "always",
        checksums: Literal["full", "fast"] = "full", accept_clock: bool = False, backup_dir: Path | None = None,
        memory: Size | None = None, threads: Count | None = None,
    ) -> None:
        options = given(Index.__init__, locals())
        options.pop("timeout", None)
        if os.name == "nt":
            raise UsageError("an Index of its own needs Unix sockets, which Python has not on Windows: run 'ndd serve' and use ndd.Client")
        until = time.monotonic() + LOCK_WAIT
        while True:
            try:
                self._start(os.fspath(path), timeout, options)
                return
            except NddError as error:  # such as by the server of a task that was killed, which is about to end
                if "open for writing elsewhere" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def _start(self, path, timeout, options):
        """Starts the server and waits until it is ready."""
        self._folder = tempfile.TemporaryDirectory(prefix="ndd-")  # sockets want short names
        address = "unix:" + os.path.join(self._folder.name, "socket")
        super().__init__(address, timeout=timeout)
        import subprocess

        args = ["serve", "-i", path, "--create", f"--listen={address}", "--admin=off", "--stop-with-stdin", *_process.flags(options)]
        # In a session of its own: an interrupt is for this process, which may go on.
        process = _process.start(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self._process, self._owner, self._path = process, os.getpid(), path
        _inputs.add(process.stdin)
        self._finalizer = weakref.finalize(self, _stop, process, self._folder, self._owner)
        self._messages, ready = _process.Messages(process.stderr), threading.Event()

        def read():  # its first line says that it is ready
            if process.stdout.readline():
                ready.set()
            for _ in process.stdout:
                pass

        threading.Thread(target=read, daemon=True, name="ndd output").start()
        until = time.monotonic() + WAIT
        while not ready.wait(0.02):
            if process.poll() is not None or time.monotonic() > until:
                self._finalizer()
                self._messages.join(5)
                raise _process.ERRORS.get(process.returncode, NddError)(self._messages.failure())

    def close(self) -> None:
        """Ends the server when requests under way are done. What was acknowledged is on the disk."""
        super().close()
        self._finalizer()

    def _gone(self):
        if os.getpid() != self._owner:
            return None
        if not self._finalizer.alive:
            return "the index is closed"
        try:
            status = self._process.wait(0.5)
        except Exception:  # it runs
            return None
        self._messages.join(5)
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}: {self._messages.failure()}"
        return f"{self._path}: the index's server {how}; open the index again: what was acknowledged is on the disk"


# The servers of this process end when their standard input ends: a forked process must not hold it open.
_inputs: weakref.WeakSet[Any] = weakref.WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: [stream.close() for stream in _inputs])


def _stop(process, folder, owner):
    if os.getpid() != owner:
        return
    process.stdin.close()
    try:
        process.wait(20)
    except Exception:
        _process.end(process)
    process.stdout.close()
    folder.cleanup()
