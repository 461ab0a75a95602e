extension [Double] {
    /// The value below which a share of them lies; 0 where there are none.
    public func quantile(_ share: Double) -> Double { isEmpty ? 0 : sorted()[Int(share * Double(count - 1))] }
}
