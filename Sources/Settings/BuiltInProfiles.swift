internal import Gestures

extension GestureProfiles {
    /// Profiles that come with the program, by name; a file of the same name wins.
    static let builtIn: [(name: String, text: String)] = [("default", text(GestureSettings())), ("handkit", handKit)]

    /// The constants of the iOS app HandKit (`HandKit/Camera/VideoOutputDelegate.swift`), for comparison.
    ///
    /// What they cannot say: the app took the median of five frames for the speed, any direction counted, and it compared ways a frame,
    /// here taken at the 30 frames a second of a phone. Hands that no body has are refused here as with every profile.
    private static let handKit = """
        # The constants of the iOS app HandKit: pinched below 0.015 of the picture, open above 0.03, at once and whatever the hand's shape.
        pinch:
          unit: picture
          close: 0.015
          certain_close: 0.015
          open: 0.03
          wide_open: 0.03
          reach: 0
          certain_reach: 0
          sudden: 1000
          dwell_ms: 0
          doubtful_dwell_ms: 0
          release_ms: 0
          doubtful_release_ms: 0
          seen_open_ms: 0
          unseen_ms: 10000
          lost_ms: 10000
        # Moving above 0.01 of the picture a frame, still below 0.005, at 30 frames a second.
        slide:
          unit: picture
          gain: 100
          reach: 0
          rest_space: 5
          rest_time_ms: 0
          pointing: 5
          open_rest_space: 5
          open_rest_time_ms: 0
          drift_time_ms: 0
          start_travel: 0
          start_speed: 0.3
          stop_speed: 0.15
          stop_time_ms: 0
          sideways: 0
          whole_hand: 0
          steadiness: 5
        hands:
          maximum: 1
          presence: 0.7
          settle_ms: 0
          lock_ms: 0

        """
}
