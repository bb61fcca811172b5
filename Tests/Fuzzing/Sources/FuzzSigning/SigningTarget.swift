import FuzzSupport
import PharosDocuments
import PharosModel
import PharosSecurity
import PharosWire

/// Signed datagrams in any order, genuine, changed on the way, repeated, by unknown senders, over restarts and kills.
///
/// - Shape: steps of 8 bytes: 0 what is done, 1 boot id, 2 sequence u16, 4 uptime u16 in units of 16 ms, 6 how much later R is in
///   units of 16 ms, 7 what is changed.
final class SigningTarget: FuzzTarget {
  static let name = "signing"
  static let maximumLength = 1_024

  private let observer = ObserverID.eui48(0xAC23_3FA0_0001)
  private let keys: [ObserverKey]
  private let keyed: [KeyedObserver]

  init() {
    var random = SeedRandom(3)
    keys = (0..<3).map { _ in ObserverKey.random(using: &random) }
    let start = Self.start
    keyed = [
      KeyedObserver(
        id: observer,
        keys: [
          .init(key: keys[0], createdAt: start),
          .init(key: keys[1], createdAt: start, expiresAt: start + .seconds(60)),
        ]
      )
    ]
  }

  private static let start = Timestamp(seconds: 1_700_000_000)

  /// What a server knows, what its disk holds, and what it has taken.
  private struct Server {
    var ring: KeyRing
    var disk: [SenderName: SenderRecord] = [:]
    var accepted: Set<[UInt32]> = []
    var now = SigningTarget.start
  }

  func run(_ input: RawSpan) {
    var server = Server(ring: KeyRing(keyed))
    var step = 0
    while step + 8 <= input.byteCount {
      server.now = server.now + .milliseconds(Int64(input[step + 6]) * 16)
      if input[step] & 0xF0 == 0xF0 {
        restart(&server, inOrder: input[step] & 1 == 0)
      } else {
        send(input, step, to: &server)
      }
      step += 8
    }
  }

  private func send(_ input: RawSpan, _ step: Int, to server: inout Server) {
    let key = keys[Int(input[step]) % 3]
    let sequence = UInt32(input[step + 2]) << 8 | UInt32(input[step + 3])
    let uptime = Int64(input[step + 4]) << 8 | Int64(input[step + 5])
    let boot = UInt32(input[step + 1])
    var encoder = PharosDatagramEncoder(
      observer: observer,
      bootID: boot,
      sequence: sequence,
      signingKeyID: key.id
    )
    var batch = ReportBatch()
    let report = Report(
      observer: batch.index(of: observer),
      received: server.now,
      timing: .received,
      body: .displayOn
    )
    batch.append(report)
    _ = encoder.append(report, from: batch)
    var datagram = encoder.finish(uptime: .milliseconds(uptime * 16))
    DatagramSigner(key: key).sign(&datagram)
    let change = input[step + 7]
    if change != 0 { datagram[Int(change) % datagram.count] ^= change }
    let isForged = change != 0 || key == keys[2]
    guard let head = try? PharosDatagramHead.head(of: datagram.span.bytes) else {
      return demand(isForged, "a genuine datagram has a head")
    }
    let sender: SignedSender
    do {
      sender = try server.ring.signer(of: datagram.span.bytes, head: head, at: server.now)
    } catch {
      let isLate = key == keys[1] && server.now >= Self.start + .seconds(60)
      return demand(isForged || isLate, "a genuine datagram is known by its tag, not \(error)")
    }
    demand(!isForged, "a datagram that was changed or signed by an unknown sender is refused")
    judge(head, of: sender, key, by: &server)
  }

  private func judge(
    _ head: PharosDatagramHead,
    of sender: SignedSender,
    _ key: ObserverKey,
    by server: inout Server
  ) {
    for _ in 0..<3 {
      switch sender.judge(head, received: server.now, lease: .distantFuture) {
      case .refused: return
      case .waits(let record):
        guard let record else { return }
        keep(record, of: sender, by: &server)
      case .acceptedToRecord(let record):
        recordAccepted(head, key, by: &server)
        return keep(record, of: sender, by: &server)
      case .accepted: return recordAccepted(head, key, by: &server)
      }
    }
    demand(false, "a datagram whose record is kept waits no longer")
  }

  private func recordAccepted(_ head: PharosDatagramHead, _ key: ObserverKey, by server: inout Server) {
    // A sender counts its datagrams, so two with one number are one unless their uptimes tell them apart.
    let uptime = UInt32(truncatingIfNeeded: head.uptime.nanoseconds / 1_000_000)
    let datagram = [key.id, head.bootID, head.sequence, uptime]
    demand(server.accepted.insert(datagram).inserted, "no datagram is taken twice")
  }

  /// Writes a record and reads it back, as a disk does.
  private func keep(_ record: SenderRecord, of sender: SignedSender, by server: inout Server) {
    var writer = FieldWriter()
    record.write(to: &writer)
    var reader = FieldReader(writer.bytes[...])
    do {
      let read = try SenderRecord(from: &reader)
      try reader.finish()
      demand(read == record, "a record comes back as it was")
      server.disk[sender.name] = read
    } catch {
      demand(false, "a record can be read: \(error)")
    }
    sender.kept(record)
  }

  /// The server starts again: in order, with what it knew, or killed, with what the disk held.
  private func restart(_ server: inout Server, inOrder: Bool) {
    if inOrder {
      for sender in server.ring.senders {
        if let record = sender.recordAtEnd { keep(record, of: sender, by: &server) }
      }
    }
    server.ring = KeyRing(keyed, records: Array(server.disk.values), endedBy: server.now)
    server.now = server.now + .milliseconds(1)
    for sender in server.ring.senders {
      if let record = sender.recordAtStart { keep(record, of: sender, by: &server) }
    }
  }

  static func seeds() throws -> [[UInt8]] {
    let plain = (0..<6).flatMap { [0, 1, 0, UInt8($0), 0, UInt8($0), 1, 0] as [UInt8] }
    let killed =
      plain + [0xF1, 0, 0, 0, 0, 0, 10, 0] + plain + [0xF0, 0, 0, 0, 0, 0, 10, 0] + [0, 1, 0, 7, 0, 90, 9, 0]
    return [
      plain, killed, plain + [1, 2, 0, 0, 0, 1, 1, 0, 2, 2, 0, 1, 0, 2, 1, 0, 0, 2, 0, 2, 0, 3, 1, 77],
    ]
  }
}
