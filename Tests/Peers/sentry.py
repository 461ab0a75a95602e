"""What receives envelopes in place of a Sentry: takes each apart by Sentry's own rules, prints it as a line of JSON, and answers as told.

usage: sentry.py [--answers STATUS[:HEADER=VALUE],...] [--certificate PEM]

The last answer stands for all later ones. The first line printed is {"port": N}. Uses nothing but Python's own library.
"""

import argparse
import http.server
import json
import ssl


def envelope(body):
    """Header and items, as the documentation of Sentry's envelopes has them."""
    line, _, rest = body.partition(b"\n")
    header, items = json.loads(line), []
    while rest:
        line, _, rest = rest.partition(b"\n")
        if not line:
            continue
        item = json.loads(line)
        length = item.get("length")
        if length is None:
            payload, _, rest = rest.partition(b"\n")
        else:
            payload, rest = rest[:length], rest[length:]
            if rest and not rest.startswith(b"\n"):
                raise ValueError("the payload does not end where its length says")
            rest = rest[1:]
        items.append({"header": item, "payload": json.loads(payload)})
    return {"header": header, "items": items}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    answers = [(200, {})]

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        status, more = self.answers[0]
        if len(self.answers) > 1:
            self.answers.pop(0)
        seen = {"path": self.path, "headers": headers, "size": len(body), "answer": status, "envelope": envelope(body)}
        print(json.dumps(seen), flush=True)
        answer = json.dumps({"id": "0"}).encode()
        self.send_response(status)
        for name, value in more.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def answer(text):
    status, _, header = text.partition(":")
    name, _, value = header.partition("=")
    return int(status), {name: value} if name else {}


options = argparse.ArgumentParser()
options.add_argument("--answers", default="200")
options.add_argument("--certificate")
arguments = options.parse_args()
Handler.answers = [answer(text) for text in arguments.answers.split(",")]
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
if arguments.certificate:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(arguments.certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(json.dumps({"port": server.server_address[1]}), flush=True)
server.serve_forever()
