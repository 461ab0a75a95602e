"""A camera in a file, see Tests/Peers/EmulatedCamera, that shows a clip for ever and can be pulled out."""

import ctypes
import glob
import mmap
import os
import subprocess

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RATE = 15  # frames a second, so that some seconds fit into the file
MJPEG = int.from_bytes(b"MJPG", "little")
CAPTURE_AND_STREAMING = 0x04000001  # <linux/videodev2.h>: V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING
PAGE = 4096

uint32 = ctypes.c_uint32


class Control(ctypes.Structure):
    _fields_ = [("id", uint32), ("name", ctypes.c_char * 32), ("minimum", ctypes.c_int32), ("maximum", ctypes.c_int32),
                ("value", ctypes.c_int32)]


class Mode(ctypes.Structure):
    _fields_ = [("format", uint32), ("width", uint32), ("height", uint32), ("rate", uint32)]


class Frame(ctypes.Structure):
    _fields_ = [("offset", uint32), ("length", uint32), ("flags", uint32), ("sequence_step", uint32), ("stamp", uint32)]


class Header(ctypes.Structure):
    """struct emulated_camera; the plugin says whether it has the same size."""

    _fields_ = [
        ("magic", ctypes.c_char * 8), ("card", ctypes.c_char * 32), ("bus", ctypes.c_char * 32), ("control_count", uint32),
        ("controls", Control * 4), ("capabilities", uint32), ("mode_count", uint32), ("modes", Mode * 8), ("frame_count", uint32),
        ("is_looped", uint32), ("pace", uint32), ("is_unplugged", uint32), ("frames", Frame * 128), ("buffer_offset", uint32),
        ("buffer_size", uint32), ("granted_rate", uint32), ("padding", uint32), ("failing_request", ctypes.c_uint64),
        ("failing_errno", ctypes.c_int32), ("failing_after", uint32), ("opened", uint32), ("closed", uint32), ("streaming", uint32),
        ("enqueued", uint32), ("dequeued", uint32), ("width", uint32), ("height", uint32), ("format", uint32)]


def rounded(size):
    return (size + PAGE - 1) // PAGE * PAGE


class Camera:
    def __init__(self, clip, folder):
        self.path = os.path.join(folder, "camera")
        self.install_plugin(os.path.join(folder, "plugin"))
        pictures = os.path.join(folder, "pictures")
        os.mkdir(pictures)
        subprocess.run(
            ["ffmpeg", "-loglevel", "error", "-i", clip, "-r", str(RATE), "-q:v", "3", os.path.join(pictures, "%03d.jpg")], check=True)
        frames = []
        for path in sorted(glob.glob(os.path.join(pictures, "*.jpg"))):
            with open(path, "rb") as file:
                frames.append(file.read())
        self.write(frames)

    def install_plugin(self, folder):
        """In the place of libv4l2's own, in the mount namespace of this process."""
        os.mkdir(folder)
        plugin = os.path.join(folder, "plugin.so")
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-Wall", "-Werror", "-o", plugin, os.path.join(REPOSITORY, "Tests/Peers/EmulatedCamera/plugin.c")],
            check=True)
        assert uint32.in_dll(ctypes.CDLL(plugin), "emulated_camera_size").value == ctypes.sizeof(Header)
        for place in glob.glob("/usr/lib/*/libv4l/plugins"):
            subprocess.run(["mount", "--bind", folder, place], check=True)

    def write(self, frames):
        header = Header(
            magic=b"HKCAMERA", card=b"Emulated Camera", bus=b"file", capabilities=CAPTURE_AND_STREAMING, mode_count=1,
            frame_count=len(frames), is_looped=1, pace=RATE, granted_rate=RATE, buffer_offset=rounded(ctypes.sizeof(Header)),
            buffer_size=rounded(max(len(frame) for frame in frames)))
        header.modes[0] = Mode(MJPEG, 640, 480, RATE)
        offset = header.buffer_offset + 8 * header.buffer_size
        for index, frame in enumerate(frames):
            header.frames[index] = Frame(offset, len(frame), 0, 1, 0)
            offset += len(frame)
        with open(self.path, "wb") as file:
            file.write(bytes(header).ljust(header.buffer_offset + 8 * header.buffer_size, b"\0") + b"".join(frames))
        with open(self.path, "r+b") as file:
            self.header = Header.from_buffer(mmap.mmap(file.fileno(), 0))

    def unplug(self):
        self.header.is_unplugged = 1
        os.rename(self.path, f"{self.path}.unplugged")

    def plug(self):
        self.header.is_unplugged = 0
        os.rename(f"{self.path}.unplugged", self.path)
