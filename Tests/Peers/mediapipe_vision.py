#!/usr/bin/env python3
"""MediaPipe's own hand tracking over clips: the peer of `handkit-bench vision`.

usage: mediapipe_vision.py CLIP...    (needs mediapipe==0.10.21 and OpenCV)

Video mode, one hand, full models. Prints one JSON line a clip: CPU milliseconds a frame spent in tracking (decoding and colour conversion
are done before and not counted), share of frames with a hand, and peak resident memory in MB.
"""
import json
import resource
import sys
import time

import cv2
import mediapipe


def frames_of(path):
    capture = cv2.VideoCapture(path)
    while True:
        good, frame = capture.read()
        if not good:
            return
        yield cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)


def measure(path):
    tracker = mediapipe.solutions.hands.Hands(static_image_mode=False, max_num_hands=1, model_complexity=1)
    count = seen = 0
    spent = 0.0
    for frame in frames_of(path):
        start = time.process_time()
        result = tracker.process(frame)
        # The first frames carry one-time work of both sides.
        if count >= 10:
            spent += time.process_time() - start
        count += 1
        seen += bool(result.multi_hand_landmarks)
    tracker.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"clip": path, "cpu_ms": 1000 * spent / max(1, count - 10), "hands": seen / max(1, count), "rss_mb": peak}


for clip in sys.argv[1:]:
    print(json.dumps(measure(clip)), flush=True)
