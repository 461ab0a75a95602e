"""A camera in the network: sends JPEG pictures over HTTP as multipart/x-mixed-replace, and fails in the ways that such cameras do.

Prints the port that it listens on. Every connection begins with the first picture.
"""

import argparse
import base64
import http.server
import itertools
import threading
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("pictures", nargs="+")
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--rate", type=float, default=25)
parser.add_argument("--credentials", help="USER:PASSWORD that are asked for")
parser.add_argument("--end-after", type=int, help="close the connection after so many pictures")
parser.add_argument("--silent-after", type=int, help="send nothing more after so many pictures, and keep the connection")
parser.add_argument("--broken", type=int, default=0, help="cut every so many-th picture short")
parser.add_argument("--broken-after", type=int, default=10**9, help="cut all pictures short after so many")
options = parser.parse_args()
pictures = [open(path, "rb").read() for path in options.pictures]


class Camera(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        if options.credentials:
            expected = "Basic " + base64.b64encode(options.credentials.encode()).decode()
            if self.headers.get("Authorization") != expected:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="camera"')
                self.end_headers()
                return
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=picture")
        self.end_headers()
        try:
            self.send_pictures()
        except OSError:
            pass

    def send_pictures(self):
        for number in itertools.count():
            if number == options.end_after:
                return
            if number == options.silent_after:
                threading.Event().wait()
            picture = pictures[number % len(pictures)]
            is_broken = options.broken and number % options.broken == options.broken - 1
            if is_broken or number >= options.broken_after:
                picture = picture[: len(picture) // 2]
            self.wfile.write(b"--picture\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(picture))
            self.wfile.write(picture + b"\r\n")
            time.sleep(1 / options.rate)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True


server = Server(("127.0.0.1", options.port), Camera)
print(server.server_address[1], flush=True)
server.serve_forever()
