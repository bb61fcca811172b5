import CSocketMeter
import Pharos
import SocketTraffic

/// One loop against two that share a port, each fed with the same datagrams from sockets that were filled before, so that
/// no sender competes with them for the cores.
struct CoresRun {
  /// What one round gave.
  struct Outcome {
    var one = Spent()
    var two = Spent()
  }

  /// How many sources send: enough for an even share of each of two sockets where the kernel goes by the source.
  private static let sources = 16
  /// Holds a second of the site's traffic at one advert a datagram.
  ///
  /// - Units: bytes.
  private static let receiveBuffer = 32 << 20

  private let one: ServedPath
  private let two: ServedPath
  private let toOne: [MeterSender]
  private let toTwo: [MeterSender]
  private let filling: Lane

  /// Whether the system grants a receive buffer that holds a second of traffic with so many adverts a datagram.
  static func hasRoom(adverts: Int) throws -> Bool {
    let socket = try MeterSocket(receiveBuffer: receiveBuffer)
    defer { socket.close() }
    var traffic = SiteTraffic()
    let (bytes, length) = traffic.nextSecond(adverts: adverts)
    return try MeterSocket.capacity(of: length, receiveBuffer: socket.receiveBuffer) >= bytes.count / length
  }

  /// Starts both servers.
  init() async throws {
    let single = try MeterSocket(receiveBuffer: CoresRun.receiveBuffer)
    toOne = try (0..<CoresRun.sources).map { _ in try MeterSender(to: single.port) }
    let first = try MeterSocket(receiveBuffer: CoresRun.receiveBuffer, sharing: 0)
    let second = try MeterSocket(receiveBuffer: CoresRun.receiveBuffer, sharing: first.port)
    toTwo = try CoresRun.evenSenders(to: first, second)
    one = try await ServedPath(sockets: [single])
    two = try await ServedPath(sockets: [first, second])
    filling = Lane(core: nil)
  }

  /// Ends both servers.
  func close() async throws {
    try await one.close()
    try await two.close()
  }

  /// Plays a second of traffic to each and says what they spent.
  func play(_ traffic: inout SiteTraffic, adverts: Int) async throws -> Outcome {
    let (bytes, length) = traffic.nextSecond(adverts: adverts)
    let trains = CoresRun.bySource(bytes, length)
    return Outcome(
      one: try await hand(trains, of: length, to: one, through: toOne),
      two: try await hand(trains, of: length, to: two, through: toTwo)
    )
  }

  /// That both have decided everything that was sent.
  func check(adverts: Int) async throws {
    for path in [one, two] {
      let decided = Int(try await path.snapshot().monitoring.adverts)
      guard decided == adverts else {
        throw MeterError("\(path.name) has decided \(decided) of \(adverts) adverts")
      }
    }
  }

  private func hand(
    _ trains: [[UInt8]],
    of length: Int,
    to path: ServedPath,
    through senders: [MeterSender]
  ) async throws -> Spent {
    let dropped = path.sockets.map(\.kernelDrops)
    try await filling.run {
      for (sender, train) in zip(senders, trains) { try sender.send(train, length: length) }
    }
    guard path.sockets.map(\.kernelDrops) == dropped else {
      throw MeterError(
        "\(path.name): the receive buffer of \(path.socket.receiveBuffer) bytes is too small for a second of "
          + "traffic; run as root, or set net.core.rmem_max to \(CoresRun.receiveBuffer)"
      )
    }
    let count = trains.reduce(0) { $0 + $1.count / length }
    return try await path.drain(count, isNewSecond: true)
  }

  /// The datagrams sorted by who sends them; an observer keeps to one source.
  private static func bySource(_ bytes: [UInt8], _ length: Int) -> [[UInt8]] {
    var trains = [[UInt8]](repeating: [], count: sources)
    for (number, start) in stride(from: 0, to: bytes.count, by: length).enumerated() {
      trains[number % SiteTraffic.observers % sources] += bytes[start..<start + length]
    }
    return trains
  }

  /// Senders half of whose datagrams the kernel gives to each socket, before a server has it go by observers.
  private static func evenSenders(to first: MeterSocket, _ second: MeterSocket) throws -> [MeterSender] {
    var kept: [[MeterSender]] = [[], []]
    // Closed at the end only, so that no port comes twice.
    var tried: [MeterSender] = []
    while kept[0].count + kept[1].count < sources {
      guard tried.count < 64 * sources else {
        throw MeterError("the kernel gives all datagrams to one of two sockets")
      }
      let sender = try MeterSender(to: first.port)
      tried.append(sender)
      try sender.send([0], length: 1)
      while first.isEmpty, second.isEmpty { meter_wait_until(meter_now() + 100_000) }
      let place = first.isEmpty ? 1 : 0
      var tally = meter_tally()
      try MeterError.check(meter_receive((place == 0 ? first : second).descriptor, 1, 0, &tally), "receive")
      if kept[place].count < sources / 2 { kept[place].append(sender) }
    }
    return kept[0] + kept[1]
  }
}
