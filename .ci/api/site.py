"""A site on loopback for a crawl: pages of words, some of them copies with another word or another frame.

Prints its address. / links to all pages; /N is page N, /copy/N a near-duplicate of it, and /short has few words."""

import http.server
import random

PAGES, COPIES = 20, 10


def words(number):
    chance = random.Random(number)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(chance.choices(letters, k=chance.randint(3, 9))) for _ in range(300)]


def page(path):
    if path == "/":
        links = [f"/{n}" for n in range(PAGES)] + [f"/copy/{n}" for n in range(COPIES)] + ["/short"]
        return "<p>" + " ".join(f'<a href="{link}">{link}</a>' for link in links)
    if path == "/short":
        return "<p>Page not found."
    number = int(path.rsplit("/", 1)[1])
    text = words(number)
    if path.startswith("/copy/") and number % 2:
        text[150] = "another"
    return f"<!DOCTYPE html><title>{'Copy' if 'copy' in path else 'Page'}</title><body><script>let noise = {random.random()}</script><p>" + " ".join(text)


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            body = page(self.path).encode()
        except (ValueError, IndexError):
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
