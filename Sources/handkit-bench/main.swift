import Camera
import HandTracking
import Inference
import Gestures
import Imaging
let a = CommandLine.arguments
let rt = try OpenVINORuntime()
var o = InferenceOptions(); o.precision = a.count > 3 && a[3] == "f32" ? .float32 : .automatic
let dir = OpenVINORuntime.libraryFolder! + "/../models/"
let p = try OpenVINOModel(path: dir + "palm_detection_full.tflite", runtime: rt, options: o)
let l = try OpenVINOModel(path: dir + "hand_landmark_full.tflite", runtime: rt, options: o)
var to = HandTracker.Options(); to.maximumHands = Int(a[2])!
var tr = try HandTracker(palms: p, landmarks: l, options: to)
let src = try ClipSource(path: a[1])
var n = 0
let c = ContinuousClock()
let t0 = c.now
while let f = try src.nextFrame() {
    let hs = try tr.hands(in: f)
    if a.count > 4 { n += 1; continue }
    var s = "{\"t\":\(f.time),\"frame\":\(n),\"w\":\(f.image.width),\"h\":\(f.image.height),\"hands\":["
    s += hs.map { h in
        "{\"track\":\(h.track),\"side\":\"\(h.side)\",\"s\":\(h.presence),\"p\":[" + h.points.indices.map { "[\(h.points[$0].x),\(h.points[$0].y),\(h.points[$0].z)]" }.joined(separator: ",") + "],\"wl\":[" + h.world.indices.map { "[\(h.world[$0].x),\(h.world[$0].y),\(h.world[$0].z)]" }.joined(separator: ",") + "]}"
    }.joined(separator: ",")
    s += "]}"
    print(s)
    n += 1
}
if a.count > 4 { print(n, (c.now - t0) / n, tr.work) }
