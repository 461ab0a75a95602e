#!/usr/bin/env python3
"""MediaPipe's own hand tracking: the peer of `handkit-bench vision`.

usage: mediapipe_vision.py clip CLIP                     (needs mediapipe==0.10.21 and OpenCV)
       mediapipe_vision.py mjpeg FOLDER                  JPEG files 1.jpg, 2.jpg, …
       mediapipe_vision.py yuyv|nv12 CLIP FFMPEG-ARGS…   raw pictures of 1280×720 that ffmpeg makes with these arguments

Video mode, one hand, full models. Prints one JSON line: CPU milliseconds a frame, share of frames with a hand, and peak resident memory in
MB. Of a clip only tracking counts; else also what leads from a camera's data to the RGB that MediaPipe takes.
"""
import json
import os
import resource
import subprocess
import sys
import time

import cv2
import mediapipe
import numpy

WIDTH, HEIGHT = 1280, 720


def clip(path):
    # One thread, so that none decodes ahead while tracking is measured.
    capture = cv2.VideoCapture(path, cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, 1])
    while True:
        good, frame = capture.read()
        if not good:
            return
        rgb = cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)
        yield lambda: rgb


def mjpeg(folder):
    number = 1
    while os.path.exists(path := f"{folder}/{number}.jpg"):
        with open(path, "rb") as file:
            data = numpy.frombuffer(file.read(), numpy.uint8)
        yield lambda: cv2.cvtColor(cv2.imdecode(data, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
        number += 1


def raw(arguments, shape, conversion):
    size = int(numpy.prod(shape))
    process = subprocess.Popen(["ffmpeg", *arguments, "pipe:1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
    while True:
        data = bytearray()
        while len(data) < size and (piece := process.stdout.read(size - len(data))):
            data += piece
        if len(data) < size:
            return
        picture = numpy.frombuffer(data, numpy.uint8).reshape(shape)
        yield lambda: cv2.cvtColor(picture, conversion)


def frames(kind, path, arguments):
    if kind == "clip":
        return clip(path)
    if kind == "mjpeg":
        return mjpeg(path)
    if kind == "yuyv":
        return raw(arguments, (HEIGHT, WIDTH, 2), cv2.COLOR_YUV2RGB_YUY2)
    return raw(arguments, (HEIGHT * 3 // 2, WIDTH), cv2.COLOR_YUV2RGB_NV12)


def measure(source):
    tracker = mediapipe.solutions.hands.Hands(static_image_mode=False, max_num_hands=1, model_complexity=1)
    count = seen = 0
    spent = 0.0
    for picture in source:
        start = time.process_time()
        result = tracker.process(picture())
        # The first frames carry one-time work of both sides.
        if count >= 10:
            spent += time.process_time() - start
        count += 1
        seen += bool(result.multi_hand_landmarks)
    tracker.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu_ms": 1000 * spent / max(1, count - 10), "hands": seen / max(1, count), "rss_mb": peak}


# One thread: a pool's would spin while they wait, and be counted.
cv2.setNumThreads(1)
print(json.dumps(measure(frames(sys.argv[1], sys.argv[2], sys.argv[3:]))), flush=True)
