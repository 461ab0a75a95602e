import Gestures
import Glibc

/// A vector turned clockwise on the screen, y pointing down.
func turn(_ vector: SIMD2<Float>, by angle: Float) -> SIMD2<Float> {
    SIMD2(vector.x * cos(angle) - vector.y * sin(angle), vector.x * sin(angle) + vector.y * cos(angle))
}

extension Hand.Points {
    /// An open right hand pointing up, `palm` from wrist to middle knuckle.
    init(upright wrist: SIMD2<Float>, palm: Float) {
        let knuckles: [SIMD2<Float>] = [[0.34, -0.97], [0, -1], [-0.22, -0.95], [-0.42, -0.86]]
        let directions: [SIMD2<Float>] = [[0.15, -0.9], [0, -1], [-0.1, -0.9], [-0.2, -0.7]]
        let thumb: [SIMD2<Float>] = [[0.23, -0.18], [0.6, -0.5], [0.84, -0.8], [1, -1.05]]
        let fingers = zip(knuckles, directions).flatMap { knuckle, direction in
            [knuckle] + [0.45, 0.75, 1].map { knuckle + direction * $0 }
        }
        let joints = [SIMD2.zero] + thumb + fingers
        self.init { index in
            let place = wrist + joints[index] * palm
            return Landmark(x: place.x, y: place.y, z: 0)
        }
    }

    func turned(by angle: Float, about center: SIMD2<Float>) -> Self {
        Self { index in
            let place = center + turn(SIMD2(self[index].x, self[index].y) - center, by: angle)
            return Landmark(x: place.x, y: place.y, z: self[index].z)
        }
    }
}
