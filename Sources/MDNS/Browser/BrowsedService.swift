/// A service that was found on the network.
public struct BrowsedService: Hashable, Sendable {
    /// What people see, such as `Lamp`; as it came, control characters included.
    public var instance: String
    public var host: DNSName
    public var port: UInt16
    public var text: TXTRecord
    /// The host's addresses as it gave them, in no order.
    public var addresses: Set<Address>

    /// An address and the interface it was heard on; without that a link-local one names nothing.
    public struct Address: Hashable, Sendable {
        /// 4 or 16.
        public var bytes: [UInt8]
        public var interface: UInt32

        public init(bytes: [UInt8], interface: UInt32) {
            (self.bytes, self.interface) = (bytes, interface)
        }
    }

    public init(instance: String, host: DNSName, port: UInt16, text: TXTRecord, addresses: Set<Address>) {
        (self.instance, self.host, self.port, self.text, self.addresses) = (instance, host, port, text, addresses)
    }
}

/// What a ``Browser`` has to say about a service.
public enum ServiceSighting: Hashable, Sendable {
    /// It was not known, or something about it has changed.
    case changed(BrowsedService)
    /// It has spoken to everybody: it has just come to the network, or answers somebody.
    case alive(BrowsedService)
    /// It has said goodbye, or was not heard from for too long.
    case gone(instance: String)
}
