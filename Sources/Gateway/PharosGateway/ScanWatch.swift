import PharosCaptures
import PharosModel

/// Learns from the commands in a capture how much of the time the radio listens, and whether it reports devices only once.
///
/// A trace of a host's Bluetooth (btmon, a phone's log) holds the commands by which the host made its controller scan: how
/// often, for how long, on and off. Where they were given before the trace began, or a sniffer made it, the share is not
/// known.
///
/// - Source: Bluetooth Core Specification 5.4, Vol 4, Part E, 7.8.10, 7.8.11, 7.8.64, 7.8.65 and 7.3.2.
struct ScanWatch: Sendable {
  private enum Command {
    static let reset: UInt16 = 0x0C03
    static let setParameters: UInt16 = 0x200B
    static let setEnable: UInt16 = 0x200C
    static let setExtendedParameters: UInt16 = 0x2041
    static let setExtendedEnable: UInt16 = 0x2042
  }

  /// The share of time while it scans, if the command that says so was seen.
  private var share: Double?
  /// Indicates whether the radio scans, if a command or an advert has shown it.
  private var isScanning: Bool?
  /// Indicates whether the controller has orders to report the same advert of a device only once.
  private(set) var filtersDuplicates = false
  /// Listening time since the last heartbeat, or nil while some of it is not known.
  private var listened: TimeSpan? = .zero
  private var since: Timestamp?
  private var latest: Timestamp?

  /// Takes into account a packet that is a command that concerns scanning.
  mutating func look(at packet: Packet, heard: Timestamp) {
    guard let command = ScanWatch.command(in: packet), command.count >= 3 else { return }
    let bytes = Array(command)
    let parameters = Array(bytes[3...].prefix(Int(bytes[2])))
    switch UInt16(bytes[0]) | UInt16(bytes[1]) << 8 {
    case Command.reset:
      pass(to: heard)
      isScanning = false
      filtersDuplicates = false
      share = nil
    case Command.setParameters where parameters.count >= 5:
      pass(to: heard)
      share = ScanWatch.share(parameters[1...])
    case Command.setExtendedParameters where parameters.count >= 3:
      pass(to: heard)
      share = ScanWatch.extendedShare(parameters)
    case Command.setEnable where !parameters.isEmpty, Command.setExtendedEnable where !parameters.isEmpty:
      pass(to: heard)
      isScanning = parameters[0] != 0
      filtersDuplicates = parameters[0] != 0 && parameters.count > 1 && parameters[1] != 0
    default: break
    }
  }

  /// Takes an advert as proof that the radio scans, where no command has shown it.
  mutating func receive(at heard: Timestamp) {
    guard isScanning == nil else { return }
    pass(to: heard)
    isScanning = true
  }

  /// The share of time since this was called last that the radio listened, 0 to 1, if all of it is known.
  mutating func drainDuty(at now: Timestamp) -> Float? {
    pass(to: now)
    let span = now - (since ?? now)
    defer {
      since = now
      listened = .zero
    }
    guard let listened, span > .zero else { return nil }
    return Float(min(1, max(0, listened / span)))
  }

  /// Counts the time up to now in the state that there was until now.
  private mutating func pass(to now: Timestamp) {
    let from = latest ?? now
    since = since ?? now
    latest = max(now, from)
    guard now > from else { return }
    switch isScanning {
    case false: break
    case true: listened = share.flatMap { share in listened.map { $0 + (now - from) * share } }
    case nil: listened = nil
    }
  }

  /// The window's share of the interval, both u16 in units of 0.625 ms; nil if they make no sense.
  private static func share(_ fields: ArraySlice<UInt8>) -> Double? {
    let bytes = Array(fields.prefix(4))
    guard bytes.count == 4 else { return nil }
    let interval = Int(bytes[0]) | Int(bytes[1]) << 8
    let window = Int(bytes[2]) | Int(bytes[3]) << 8
    guard interval > 0, window <= interval else { return nil }
    return Double(window) / Double(interval)
  }

  /// - Shape: 0 own address type, 1 filter policy, 2 PHYs as bits, then for each PHY: 0 type, 1 interval, 3 window.
  private static func extendedShare(_ parameters: [UInt8]) -> Double? {
    var total = 0.0
    for index in 0..<parameters[2].nonzeroBitCount {
      let start = 3 + index * 5
      guard parameters.count >= start + 5, let share = share(parameters[(start + 1)...]) else { return nil }
      total += share
    }
    return parameters[2] == 0 ? nil : min(1, total)
  }

  /// The command that a packet holds, from its opcode on, or nil if it holds something else.
  private static func command(in packet: Packet) -> ArraySlice<UInt8>? {
    let bytes = packet.bytes
    switch packet.linkType {
    case .btsnoopMonitor:
      return packet.flags & 0xFFFF == 2 ? bytes : nil
    case .linuxMonitor:
      let header = Array(bytes.prefix(4))
      return header.count == 4 && header[2] == 0 && header[3] == 2 ? bytes.dropFirst(4) : nil
    case .btsnoopHCI:
      return packet.flags & 3 == 2 ? bytes : nil
    case .btsnoopH4, .bluetoothH4:
      return bytes.first == 1 ? bytes.dropFirst() : nil
    case .bluetoothH4WithDirection:
      return bytes.dropFirst(4).first == 1 ? bytes.dropFirst(5) : nil
    default: return nil
    }
  }
}
