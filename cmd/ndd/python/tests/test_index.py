import http.server
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import ndd
from conftest import text

pytestmark = pytest.mark.skipif(os.name == "nt", reason="an index of its own needs Unix sockets")


def test_index(tmp_path):
    with ndd.Index(tmp_path / "seen", k=3) as index:
        assert index.check_and_insert(text(1), id="a")["inserted"]
        near = text(1).replace(text(1).split()[7], "other", 1)
        answer = index.check_and_insert(near, id="b")
        assert not answer["inserted"] and answer["hits"][0]["ids"] == ["a"]
        assert index.query(near)["documents"] == 1 and index.get("a")["id"] == "a" and index.get("b") is None
        results = index.insert_many({"id": str(i), "fingerprint": i * 0x9E3779B97F4A7C15 % 2**64} for i in range(5000))
        assert len(results) == 5000 and all(r["inserted"] for r in results)
        assert index.delete("a") == 1 and index.delete(ids=["1", "2", "none"]) == 2
        assert index.stats()["documents"] == 4998
    with ndd.Index(tmp_path / "seen") as index:  # what was acknowledged is there
        assert index.stats()["documents"] == 4998


def test_verified(tmp_path):
    near = text(1).replace(text(1).split()[7], "other", 1)
    for threshold, inserted, verified in [(0.7, False, True), (0.99, True, True), (0, False, False)]:
        with ndd.Index(tmp_path / f"i{threshold}", threshold=threshold) as index:
            index.insert(text(1), id="a")
            answer = index.check_and_insert(near, id="b")
            assert answer["inserted"] is inserted
            [hit] = index.query(text(1))["hits"][:1]
            assert hit["verified"] is verified and (hit["similarity"] == 1 if verified else hit["similarity"] is None)
            if not inserted:
                assert answer["hits"][0]["verified"] is verified
            if threshold == 0.7:
                assert 0.9 < answer["hits"][0]["similarity"] < 1
                [many] = index.check_and_insert_many([{"text": near, "id": "c"}])
                assert many["hits"][0]["similarity"] == answer["hits"][0]["similarity"]
                by_fingerprint = index.query(fingerprint=answer["fingerprint"])["hits"][0]
                assert not by_fingerprint["verified"] and by_fingerprint["similarity"] is None
    with pytest.raises(ndd.UsageError, match="threshold must be between 0 and 1"):
        ndd.Index(tmp_path / "i", threshold=7)


def test_batch(tmp_path):
    numpy = pytest.importorskip("numpy")
    with ndd.Index(tmp_path / "i") as index:
        index.insert_many([{"id": "x", "fingerprint": 7}, {"id": "y", "fingerprint": 2**64 - 1}])
        rows = index.batch(numpy.array([6, 1 << 40, 2**64 - 2], numpy.uint64)).to_pylist()
        assert [(r["query"], r["id"], r["distance"]) for r in rows] == [(0, "x", 1), (2, "y", 1)]
        many = numpy.zeros(70_000, numpy.uint64)
        many[-1] = 7
        assert [r["query"] for r in index.batch(many, k=0).to_pylist()] == [69_999]


def test_wrong(tmp_path):
    with ndd.Index(tmp_path / "i") as index:
        with pytest.raises(ndd.ServerError, match="k = 50") as error:
            index.query(text(1), k=50)
        assert error.value.status == 422
        with pytest.raises(ndd.UsageError, match="one of"):
            index.query(text(1), html="<p>")
        with pytest.raises(ndd.NddError, match="by process"):
            ndd.Index(tmp_path / "i")
        with pytest.raises(ndd.UsageError, match="no argument 'listen'"):
            ndd.Index(tmp_path / "j", listen="127.0.0.1:1")
        with pytest.raises(ndd.UsageError, match="between 0 and 8"):
            ndd.Index(tmp_path / "j", k=99)
    with pytest.raises(ndd.ServerError):
        index.stats()  # closed
    with pytest.raises(ndd.ServerError, match="does a server run there"):
        ndd.Client("http://127.0.0.1:1", attempts=2).stats()
    with pytest.raises(ndd.UsageError, match="begins with"):
        ndd.Client("localhost:7744").stats()


def test_client_of_a_served_index(tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("a-token-of-16-characters write\n")
    tokens.chmod(0o600)
    command = [ndd.find_ndd(), "serve", "-i", tmp_path / "i", "--create", "--listen", "127.0.0.1:0", "--admin", "off", "--token-file", tokens]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        url = re.search("http://[0-9.:]+", server.stdout.readline()).group()
        with ndd.Client(url, token="a-token-of-16-characters") as client:
            assert client.insert(text(1), id="a")["inserted"]
        with pytest.raises(ndd.ServerError) as error:
            ndd.Client(url, token="wrong-token-of-16-ch").stats()
        assert error.value.status == 401
        server.terminate()


def test_other_server():
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(ndd.ServerError, match="is the server an ndd"):
            ndd.Client(f"http://127.0.0.1:{server.server_port}").stats()
        server.shutdown()


class Faults(http.server.BaseHTTPRequestHandler):
    """Answers with the faults of its server, one for each request, and with {} when there is none left."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        fault = self.server.faults.pop(0) if self.server.faults else 200
        if fault != "early":
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append(self.path)
        self.close_connection = fault in ("lost", "early", "idle")
        if fault == "lost":
            return
        status = {"early": 413, "idle": 200, "html": 200, "full": 200}.get(fault, fault)
        answer = {"detail": f"fault {fault}"} if status >= 400 else {"results": [{"status": 507, "error": "the disk is full"}]}
        body = b"<p>" if fault == "html" else json.dumps(answer).encode()
        self.send_response(status)
        if status in (408, 429):
            self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST

    def log_message(self, *args):
        pass


@pytest.mark.parametrize("faults, call, seen, error", [
    (["lost", "lost"], lambda c: c.stats(), 3, None),
    (["lost"], lambda c: c.check_and_insert(text(1), id="a"), 2, None),  # the second time it is answered as the first
    (["lost"], lambda c: c.check_and_insert(text(1)), 1, "is unknown"),  # it would find itself
    (["lost"], lambda c: c.insert(text(1), id="a"), 1, "is unknown"),
    ([408, 429, 503], lambda c: c.insert(text(1), id="a"), 4, None),
    ([429] * 5, lambda c: c.stats(), 5, "fault 429"),
    ([401], lambda c: c.stats(), 1, "fault 401"),
    (["html"], lambda c: c.stats(), 1, "not JSON"),
    (["early"], lambda c: c.insert("word " * 4_000_000, id="a"), 1, "fault early"),
    (["full"], lambda c: c._part("/v1/insert", [{"id": "a", "text": text(1)}], {}), 1, "the disk is full"),
    (["idle"], lambda c: (c.stats(), time.sleep(0.1), c.insert(text(1), id="a")), 2, None),
])
def test_faults(faults, call, seen, error):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Faults) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        server.faults, server.seen = list(faults), []
        client = ndd.Client(f"http://127.0.0.1:{server.server_port}")
        if error:
            with pytest.raises(ndd.ServerError, match=error):
                call(client)
        else:
            call(client)
        assert len(server.seen) == seen and server.faults == []
        client.insert(text(2), id="b")  # an error closes one connection, not the client
        client.close()
        server.shutdown()


def test_errors_leave_the_index(tmp_path):
    index = ndd.Index(tmp_path / "i")
    large = "word " * 2_000_000
    with pytest.raises(ndd.ServerError, match="more than 8388608 bytes") as error:
        index.check_and_insert(large, id="large")
    assert error.value.status == 413
    answers = index.insert_many({"id": str(i), "text": t} for i, t in enumerate([text(1), large, "short", text(2), "\ud800 " + text(3)]))
    assert [a["status"] for a in answers] == [200, 413, 422, 200, 200] and "more than" in answers[1]["error"]
    assert index.query(text(9) + " \u4e2d\u6587" * 1_100_000)["documents"] == 0  # 7 MB in UTF-8
    idle = index._connection()
    idle.sock.shutdown(2)  # as by the server, after two minutes without a call
    assert index._connection() is not idle
    assert index.insert(text(4), id="x")["inserted"]
    assert index.stats()["documents"] == 4
    index.close()
    index.close()
    with pytest.raises(ndd.ServerError, match="the index is closed"):
        index.stats()


def test_check_and_insert_again(tmp_path):
    documents = [{"id": str(i), "text": text(i % 40)} for i in range(60)]
    with ndd.Index(tmp_path / "i") as index:
        kept = [[a["inserted"] for a in index.check_and_insert_many(documents)] for _ in range(2)]
        assert kept[0] == kept[1] == [i < 40 for i in range(60)]


def test_dead_server(tmp_path):
    with ndd.Index(tmp_path / "i") as index:
        index.insert(text(1), id="a")
        assert os.getsid(index._process.pid) != os.getsid(0)  # an interrupt from a terminal or a notebook is not for it
        index._process.kill()
        for call in (index.stats, lambda: index.insert(text(2), id="b")):
            with pytest.raises(ndd.ServerError, match="/i: the index's server was killed by signal 9; open the index again"):
                call()
    with ndd.Index(tmp_path / "i") as index:
        assert index.stats()["documents"] == 1


def test_folder_of_a_server_that_ends(tmp_path):
    first = ndd.Index(tmp_path / "i")
    threading.Timer(0.7, first.close).start()
    with ndd.Index(tmp_path / "i") as index:  # as a task that is run again at once
        assert index.stats()["documents"] == 0


def test_pickled(tmp_path):
    with ndd.Index(tmp_path / "i") as index:
        index.insert(text(1), id="a")
        with pickle.loads(pickle.dumps(index)) as client:
            assert client.stats()["documents"] == 1
        assert index.stats()["documents"] == 1


def test_child_outlives_the_index(tmp_path):
    index = ndd.Index(tmp_path / "i")
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    start = time.monotonic()
    index.close()
    assert index._process.returncode == 0 and time.monotonic() - start < 10
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def test_fork(tmp_path):
    with ndd.Index(tmp_path / "i") as index:
        index.insert(text(1), id="a")
        child = os.fork()
        if child == 0:
            os._exit(0 if index.stats()["documents"] == 1 else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert index.stats()["documents"] == 1


def test_threads(tmp_path):
    with ndd.Index(tmp_path / "i") as index, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda i: index.check_and_insert(text(i % 50), id=str(i)), range(400)))
        assert sum(a["inserted"] for a in answers) == 50


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, None])
def test_server_ends_with_the_process(tmp_path, how):
    program = f"import ndd, time; i = ndd.Index({str(tmp_path / 'i')!r}); print(i._process.pid, flush=True); time.sleep({60 if how else 0})"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}) as process:
        server = int(process.stdout.readline())
        if how:
            process.send_signal(how)
    for _ in range(300):
        try:
            os.kill(server, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError(f"server {server} is still there")
