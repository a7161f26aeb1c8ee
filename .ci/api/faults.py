"""A server on loopback in front of an ndd: faults.py URL. Every second request has a fault, each kind in turn.

Prints its address. The faults are refusals with Retry-After, an answer that is cut off, and connections that are closed
before and after the request was carried out."""

import http.server
import itertools
import sys
import threading
import urllib.error
import urllib.request

FAULTS = itertools.cycle([408, None, 429, None, 503, None, "before", None, "after", None, "cut", None])
lock = threading.Lock()


class Proxy(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with lock:
            fault = next(FAULTS)
        if fault == "before":
            return
        if isinstance(fault, int):
            self.answer(fault, b'{"detail": "a fault"}')
            return
        request = urllib.request.Request(sys.argv[1] + self.path, body, {"Content-Type": self.headers["Content-Type"]})
        try:
            answer = urllib.request.urlopen(request)
        except urllib.error.HTTPError as error:
            answer = error
        if fault != "after":
            self.answer(answer.status, answer.read(), cut=fault == "cut")

    def answer(self, status, body, cut=False):
        self.send_response(status)
        if status in (408, 429, 503):
            self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
