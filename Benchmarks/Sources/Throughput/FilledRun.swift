import SocketTraffic

/// Receivers that take the same datagrams from a socket that was filled before, in turn.
///
/// The filling thread runs on the core of the receivers: what another core has allocated costs the one that frees it,
/// and a machine whose datagrams come from outside pays no such price.
struct FilledRun {
  /// What one receiver spent in each round.
  struct Outcome {
    let name: String
    var rounds: [Spent] = []
  }

  let adverts: Int
  let receivers: [any Receiver]
  let filling: Lane
  private let senders: [MeterSender]
  private(set) var outcomes: [Outcome]
  /// The length of the datagrams that were played last, in bytes.
  private(set) var length = 0

  init(adverts: Int, receivers: [any Receiver], filling: Lane) throws {
    self.adverts = adverts
    self.receivers = receivers
    self.filling = filling
    senders = try receivers.map { try MeterSender(to: $0.socket.port) }
    outcomes = receivers.map { Outcome(name: $0.name) }
  }

  /// Plays some seconds of traffic to every receiver, part by part in turn, and keeps what they spent.
  mutating func play(_ traffic: inout SiteTraffic, seconds: Int) async throws {
    var spent = [Spent](repeating: Spent(), count: receivers.count)
    var parts = 0
    for _ in 0..<seconds {
      let (bytes, length) = traffic.nextSecond(adverts: adverts)
      self.length = length
      let buffer = receivers.map(\.socket.receiveBuffer).min() ?? 0
      let maximum = try MeterSocket.capacity(of: length, receiveBuffer: buffer) * length
      for start in stride(from: 0, to: bytes.count, by: maximum) {
        let part = bytes[start..<min(start + maximum, bytes.count)]
        parts += 1
        for turn in receivers.indices {
          let index = (turn + parts) % receivers.count
          spent[index] += try await hand(part, of: length, to: index, isNewSecond: start == 0)
        }
      }
    }
    for index in receivers.indices { outcomes[index].rounds.append(spent[index]) }
  }

  private func hand(
    _ part: ArraySlice<UInt8>,
    of length: Int,
    to index: Int,
    isNewSecond: Bool
  ) async throws -> Spent {
    let receiver = receivers[index]
    let dropped = receiver.socket.kernelDrops
    let sender = senders[index]
    try await filling.run { try sender.send(part, length: length) }
    guard receiver.socket.kernelDrops == dropped else {
      throw MeterError("\(receiver.name): the socket dropped datagrams although there was room for them")
    }
    let count = part.count / length
    let spent = try await receiver.drain(count, isNewSecond: isNewSecond)
    guard spent.datagrams == count else {
      throw MeterError("\(receiver.name) took \(spent.datagrams) of \(count) datagrams")
    }
    return spent
  }
}
