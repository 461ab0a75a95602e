import Gestures
import Testing

@testable import HandTracking

struct TrackTests {
    /// A hand of a palm of 100 pixels.
    private func reading(_ place: SIMD2<Float>) -> LandmarkReading {
        let points = Hand.Points(upright: place, palm: 100)
        let world = Hand.Points { Landmark(x: points[$0].x / 1000, y: points[$0].y / 1000, z: 0) }
        return LandmarkReading(presence: 0.9, rightness: 0.9, points: points, world: world)
    }

    private func track(_ steps: [(time: Double, place: SIMD2<Float>)]) -> Track {
        var track = Track(id: 0, region: Region(center: .zero, size: 100, rotation: 0), time: 0)
        for step in steps {
            let reading = reading(step.place)
            track.take(reading, Region(landmarks: reading.points), at: step.time)
        }
        return track
    }

    @Test func `a movement goes on, by seven tenths, in pixels and in metres`() throws {
        let foretold = try #require(track([(0, [100, 100]), (0.03, [110, 104])]).foretold(at: 0.06))
        let expected = reading([117, 106.8])
        for index in 0..<21 {
            #expect(abs(foretold.points[index].x - expected.points[index].x) < 1e-3)
            #expect(abs(foretold.points[index].y - expected.points[index].y) < 1e-3)
            #expect(abs(foretold.world[index].x - expected.world[index].x) < 1e-5)
        }
        #expect(foretold.presence == 0.9)
    }

    @Test func `nothing is foretold from one sight, from sights far apart, or for a time far ahead or past`() {
        #expect(track([(0, [100, 100])]).foretold(at: 0.03) == nil)
        #expect(track([(0, [100, 100]), (0.2, [110, 100])]).foretold(at: 0.23) == nil)
        let seen = track([(0, [100, 100]), (0.03, [110, 100])])
        #expect(seen.foretold(at: 0.14) == nil)
        #expect(seen.foretold(at: 0.03) == nil && seen.foretold(at: 0.01) == nil)
    }

    @Test func `a surprise is the way of the tips from where they were foretold, in palms`() {
        #expect(track([(0, [100, 100]), (0.03, [110, 100])]).surprise == .infinity)
        #expect(track([(0, [100, 100]), (0.03, [110, 100]), (0.06, [117, 100])]).surprise < 1e-4)
        #expect(abs(track([(0, [100, 100]), (0.03, [110, 100]), (0.06, [137, 100])]).surprise - 0.2) < 1e-3)
        #expect(track([(0, [100, 100]), (0.03, [110, 100]), (0.5, [117, 100])]).surprise == .infinity)
    }
}
