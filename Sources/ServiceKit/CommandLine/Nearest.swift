/// The candidate that `text` was probably meant to be: at most a third of its letters differ; nil where none is that near.
public func nearest(to text: String, among candidates: [String]) -> String? {
    let ranked = candidates.map { (candidate: $0, distance: editDistance(Array(text), Array($0))) }
    guard let best = ranked.min(by: { $0.distance < $1.distance }), best.distance <= max(1, text.count / 3) else { return nil }
    return best.candidate
}

/// Letters to insert, drop, replace or swap with a neighbour to turn one into the other (optimal string alignment).
private func editDistance(_ from: [Character], _ to: [Character]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...to.count)
    for (row, left) in from.enumerated() {
        var current = [row + 1]
        for (column, right) in to.enumerated() {
            var cost = min(last[column + 1] + 1, current[column] + 1, last[column] + (left == right ? 0 : 1))
            if row > 0, column > 0, left == to[column - 1], from[row - 1] == right { cost = min(cost, beforeLast[column - 1] + 1) }
            current.append(cost)
        }
        (beforeLast, last) = (last, current)
    }
    return last[to.count]
}
