"""A camera in the network: plays a Motion JPEG clip by RTSP, from its beginning for whoever connects.

Needs Debian's python3-gi, gir1.2-gst-rtsp-server-1.0, gstreamer1.0-plugins-base and -good. Prints the port that it listens on.
"""

import argparse

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("clip")
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--credentials", help="USER:PASSWORD that are asked for")
options = parser.parse_args()

Gst.init(None)
server = GstRtspServer.RTSPServer(address="127.0.0.1", service=str(options.port))
factory = GstRtspServer.RTSPMediaFactory()
# RTP leaves the Huffman tables out, so that pictures need those of the standard.
factory.set_launch(
    f'( filesrc location="{options.clip}" ! avidemux ! jpegdec ! jpegenc quality=90 ! rtpjpegpay name=pay0 pt=26 )'
)
if options.credentials:
    user, password = options.credentials.split(":", 1)
    token = GstRtspServer.RTSPToken()
    token.set_string("media.factory.role", "viewer")
    auth = GstRtspServer.RTSPAuth()
    auth.add_basic(GstRtspServer.RTSPAuth.make_basic(user, password), token)
    server.set_auth(auth)
    factory.add_role_from_structure(
        Gst.Structure.new_from_string("viewer, media.factory.access=(boolean)true, media.factory.construct=(boolean)true")
    )
server.get_mount_points().add_factory("/clip", factory)
server.attach(None)
print(server.get_bound_port(), flush=True)
GLib.MainLoop().run()
