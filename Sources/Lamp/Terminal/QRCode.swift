import CQRencode

/// A QR code, as rows of modules: true is dark.
struct QRCode: Equatable, Sendable {
    let rows: [[Bool]]

    /// Encodes with error correction of level Q, what is upper case and digits in their own short forms; nil for text too long.
    init?(_ text: String) {
        guard let code = QRcode_encodeString(text, 0, QR_ECLEVEL_Q, QR_MODE_8, 1) else { return nil }
        defer { QRcode_free(code) }
        guard let data = code.pointee.data else { return nil }
        let width = Int(code.pointee.width)
        rows = (0..<width).map { row in (0..<width).map { data[row * width + $0] & 1 != 0 } }
    }

    /// Lines of half blocks with the light border that readers need; light is drawn, so that it can be read on a dark terminal.
    var lines: [String] {
        let border = 2
        let width = rows.count + 2 * border
        func isLight(_ row: Int, _ column: Int) -> Bool {
            let (row, column) = (row - border, column - border)
            guard rows.indices.contains(row), rows.indices.contains(column) else { return true }
            return !rows[row][column]
        }
        return stride(from: 0, to: width, by: 2).map { row in
            (0..<width).map { column in
                switch (isLight(row, column), row + 1 < width && isLight(row + 1, column)) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }.joined()
        }
    }
}
