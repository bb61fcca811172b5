/// An Eddystone-URL frame: a web address, shortened by one byte for its beginning and one for each usual ending.
///
/// It keeps the bytes as they were sent; the text is made when it is asked for.
///
/// - Shape: service data behind the UUID: 0 `10`, 1 transmit power, 2 scheme (0 to 3), 3 the encoded rest, 1 to 17
///   bytes. A frame with another scheme, or whose rest is empty or longer, is refused.
public struct EddystoneURL: Sendable {
  /// How the address begins.
  public enum Scheme: UInt8, CaseIterable, Hashable, Sendable {
    /// `http://www.`
    case httpWWW
    /// `https://www.`
    case httpsWWW
    /// `http://`
    case http
    /// `https://`
    case https

    /// The text that the byte stands for.
    public var text: String {
      switch self {
      case .httpWWW: "http://www."
      case .httpsWWW: "https://www."
      case .http: "http://"
      case .https: "https://"
      }
    }
  }

  /// The level at 0 m.
  ///
  /// - Units: dBm.
  public let transmitPower: Int8
  /// How the address begins.
  public let scheme: Scheme
  /// How many bytes of `bytes` were sent.
  let count: UInt8
  /// The encoded rest, zeros behind it.
  let bytes: InlineArray<17, UInt8>

  /// Makes a frame from the encoded rest of an address, or nil if that is empty or longer than 17 bytes.
  public init?(scheme: Scheme, encoded: [UInt8], transmitPower: Int8) {
    guard (1...EddystoneURL.longestRest).contains(encoded.count) else { return nil }
    self.transmitPower = transmitPower
    self.scheme = scheme
    count = UInt8(encoded.count)
    bytes = InlineArray { index in index < encoded.count ? encoded[index] : 0 }
  }

  /// The encoded rest of the address as it is sent: characters and codes for usual endings.
  public var encoded: [UInt8] { (0..<Int(count)).map { bytes[$0] } }

  /// The first byte of the frame.
  static let code: UInt8 = 0x10
  /// How many bytes stand before the rest.
  static let headLength = 3
  /// The longest rest that the specification allows: what fits beside flags and the list of services.
  static let longestRest = 17

  /// Reads a frame that begins with ``code``, or gives nil if it is none.
  init?(frame: RawSpan) {
    let restLength = frame.byteCount - EddystoneURL.headLength
    guard restLength >= 1, restLength <= EddystoneURL.longestRest else { return nil }
    guard let scheme = Scheme(rawValue: frame.byte(at: 2)) else { return nil }
    var bytes = InlineArray<17, UInt8>(repeating: 0)
    for index in 0..<restLength { bytes[index] = frame.byte(at: EddystoneURL.headLength + index) }
    self.bytes = bytes
    self.scheme = scheme
    count = UInt8(restLength)
    transmitPower = Int8(bitPattern: frame.byte(at: 1))
  }
}

extension EddystoneURL: Hashable {
  /// Compares what was sent.
  public static func == (left: EddystoneURL, right: EddystoneURL) -> Bool {
    guard left.transmitPower == right.transmitPower, left.scheme == right.scheme else { return false }
    guard left.count == right.count else { return false }
    for index in 0..<Int(left.count) where left.bytes[index] != right.bytes[index] { return false }
    return true
  }

  /// Hashes what was sent.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(transmitPower)
    hasher.combine(scheme)
    for index in 0..<Int(count) { hasher.combine(bytes[index]) }
  }
}
