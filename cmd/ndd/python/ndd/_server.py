import json
import os
import socket
import sys
import tempfile
import threading
import time
import weakref

from . import _process
from ._errors import NddError, ServerError, UsageError

WAIT = 600  # seconds for an index to be loaded


class Client:
    """Talks to a server that ``ndd serve`` runs. It may be used by several threads, and after a fork.

    url is http://, https:// or unix:PATH. token is one of the server's token file. A request that is refused because the
    server is busy is sent again, attempts times at most. Every method raises ServerError with what the server said.
    """

    def __init__(self, url="http://127.0.0.1:7744", *, token=None, timeout=60, attempts=5, context=None):
        self._url, self._token, self._timeout, self._attempts, self._context = url.rstrip("/"), token, timeout, attempts, context
        self._local = threading.local()

    @property
    def url(self):
        """The address, for Clients of other processes of this machine."""
        return self._url

    def query(self, text=None, *, html=None, fingerprint=None, k=None, limit=None):
        """Returns the stored documents near one: {"fingerprint", "k", "documents", "hits": [{"distance", "ids", ...}]}."""
        return self._post("/v1/query", {**_subject(text, html, fingerprint), "k": k, "limit": limit})

    def insert(self, text=None, *, id=None, html=None, fingerprint=None, ttl=None):
        """Adds a document and returns what became of it. A document with the same id is replaced."""
        return self._post("/v1/insert", {**_subject(text, html, fingerprint), "id": id, "ttl": ttl})

    def insert_many(self, documents):
        """Adds documents, dicts with text, html or fingerprint, id and ttl, and returns a list of what became of each."""
        return self._many("/v1/insert", documents, {})

    def check_and_insert(self, text=None, *, id=None, html=None, fingerprint=None, k=None, ttl=None):
        """Adds a document unless one near it is stored: ["inserted"] says which, ["hits"] what it is near."""
        return self._post("/v1/check-and-insert", {**_subject(text, html, fingerprint), "id": id, "k": k, "ttl": ttl})

    def check_and_insert_many(self, documents, *, k=None):
        """The same for several documents, decided in order; returns a list."""
        return self._many("/v1/check-and-insert", documents, {"k": k})

    def delete(self, id=None, *, ids=None, fingerprint=None):
        """Deletes documents by id, ids or fingerprint, and returns how many there were."""
        body = {"id": id, "ids": None if ids is None else list(ids), "fingerprint": _hex(fingerprint)}
        return self._post("/v1/delete", body)["deleted"]

    def batch(self, fingerprints, *, k=None):
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

    def get(self, id):
        """Returns the stored document with an id, or None."""
        from urllib.parse import quote

        try:
            return json.loads(self._send("GET", "/v1/documents/" + quote(id, safe="")))
        except ServerError as e:
            if e.status == 404:
                return None
            raise

    def stats(self):
        """Returns the sizes and limits of the server."""
        return json.loads(self._send("GET", "/v1/stats"))

    def close(self):
        """Closes the connection of this thread."""
        connection, self._local.__dict__["connection"] = self._local.__dict__.get("connection"), None
        if connection:
            connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *of):
        self.close()

    def _many(self, path, documents, rest):
        results, most = [], None
        documents = [{**d, "fingerprint": _hex(d["fingerprint"])} if "fingerprint" in d else d for d in documents]
        part, size = [], 0
        for d in documents:
            if most is None:
                most = self.stats()["limits"]
            n = len(json.dumps(d))
            if part and (len(part) == most["documents"] or size + n > most["body_bytes"] // 2):
                results += self._post(path, {"documents": part, **rest})["results"]
                part, size = [], 0
            part.append(d)
            size += n
        if part:
            results += self._post(path, {"documents": part, **rest})["results"]
        return results

    def _post(self, path, body):
        body = {name: value for name, value in body.items() if value is not None}
        return json.loads(self._send("POST", path, json.dumps(body).encode(), {"Content-Type": "application/json"}))

    def _connection(self):
        """Returns this thread's connection; of a forked process, a new one."""
        here = self._local.__dict__
        if here.get("connection") is None or here.get("pid") != os.getpid():
            here["connection"], here["pid"] = _connect(self._url, self._timeout, self._context), os.getpid()
        return here["connection"]

    def _send(self, method, path, body=None, headers={}):
        import http.client

        headers = dict(headers, **({"Authorization": f"Bearer {self._token}"} if self._token else {}))
        for attempt in range(self._attempts):
            connection, last = self._connection(), attempt == self._attempts - 1
            fresh = connection.sock is None
            try:
                connection.request(method, path, body, headers)
                response = connection.getresponse()
                data = response.read()
            except (OSError, http.client.HTTPException) as e:
                self.close()
                # A kept connection may have been closed meanwhile. What may have been carried out is not sent again.
                reads = method == "GET" or path.startswith(("/v1/query", "/v1/batch"))
                if not fresh and reads and not last and isinstance(e, (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError)):
                    continue
                raise ServerError(f"{self._url}: {e or type(e).__name__}; does a server run there?") from e
            if response.status in (429, 503) and not last:
                time.sleep(min(float(response.headers.get("Retry-After") or 0.2 * 2**attempt), 30))
                continue
            if response.status >= 400:
                raise ServerError(_problem(self._url, response, data), response.status)
            return data


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


def _hex(fingerprint):
    return f"{int(fingerprint):016x}" if fingerprint is not None and not isinstance(fingerprint, str) else fingerprint


def _subject(text, html, fingerprint):
    given = {"text": text, "html": html, "fingerprint": _hex(fingerprint)}
    given = {name: value for name, value in given.items() if value is not None}
    if len(given) != 1:
        raise UsageError("give one of text, html and fingerprint")
    return given


class Index(Client):
    """An index in a folder, with a server of its own that ends with this process, however that ends.

        with ndd.Index("seen") as index:
            if index.check_and_insert(text, id=url)["inserted"]: ...

    The folder is made if it does not exist. options are flags of ``ndd serve``, such as k=4, recipe="simhash", ttl="90d",
    sync="interval=1s". After a fork the child may go on asking; only the process that opened the index closes it.
    """

    def __init__(self, path, *, timeout=60, **options):
        for name in ("listen", "admin", "index", "load"):
            if name in options:
                raise UsageError(f"{name} is not for an Index; run 'ndd serve' and give its address to ndd.Client")
        if os.name == "nt":
            raise UsageError("an Index of its own needs Unix sockets, which Python has not on Windows: run 'ndd serve' and use ndd.Client")
        self._folder = tempfile.TemporaryDirectory(prefix="ndd-")  # sockets want short names
        address = "unix:" + os.path.join(self._folder.name, "socket")
        super().__init__(address, timeout=timeout)
        import subprocess

        args = ["serve", "-i", os.fspath(path), "--create", f"--listen={address}", "--admin=off", "--stop-with-stdin", *_process.flags(options)]
        self._process = _process.start(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._finalizer = weakref.finalize(self, _stop, self._process, self._folder, os.getpid())
        messages, ready = _process.Messages(self._process.stderr), threading.Event()

        def read():  # its first line says that it is ready
            if self_process.stdout.readline():
                ready.set()
            for _ in self_process.stdout:
                pass

        self_process = self._process
        threading.Thread(target=read, daemon=True, name="ndd output").start()
        until = time.monotonic() + WAIT
        while not ready.wait(0.02):
            if self._process.poll() is not None or time.monotonic() > until:
                self._finalizer()
                messages.join(5)
                raise _process.ERRORS.get(self._process.returncode, NddError)(messages.failure())

    def close(self):
        """Ends the server when requests under way are done. What was acknowledged is on the disk."""
        super().close()
        if self._finalizer.alive:
            self._finalizer()


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


