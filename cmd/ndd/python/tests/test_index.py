import http.server
import os
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
        with pytest.raises(ndd.UsageError, match="Client"):
            ndd.Index(tmp_path / "j", listen="127.0.0.1:1")
        with pytest.raises(ndd.UsageError, match="-k 99"):
            ndd.Index(tmp_path / "j", k=99)
    with pytest.raises(ndd.ServerError):
        index.stats()  # closed
    with pytest.raises(ndd.ServerError, match="does a server run there"):
        ndd.Client("http://127.0.0.1:1").stats()
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
