import CPharos
import PharosCaptures
import PharosIngest
import PharosModel
import PharosTestSupport
import Testing

@Suite("The drain of a socket", .serialized)
struct DatagramDrainTests {
  @Test("takes 64 datagrams a call, whole and in order, with where they came from")
  func usesInOrder() throws {
    let socket = try TestSocket()
    let sender = try DatagramSender(to: socket.address)
    let sizes = (0..<200).map { $0 * 300 + 1 }
    for size in sizes { try sender.sendWaiting(Array(repeating: UInt8(size & 255), count: size)) }
    var drain = try DatagramDrain(capacity: 65_536)
    var counts: [Int] = []
    var accepted: [Int] = []
    while counts.last != 0 {
      let count = drain.receive(from: socket.descriptor)
      counts.append(count)
      for slot in 0..<count {
        let (bytes, isTruncated) = drain.datagram(slot)
        #expect(!isTruncated)
        #expect(bytes.allSatisfy { $0 == UInt8(bytes.count & 255) })
        #expect(drain.source(slot) == sender.source)
        accepted.append(bytes.count)
      }
    }
    #expect(counts == [64, 64, 64, 8, 0])
    #expect(accepted == sizes)
  }

  @Test("says which datagrams were longer than a slot")
  func reportsTruncation() throws {
    let socket = try TestSocket()
    let sender = try DatagramSender(to: socket.address)
    for size in [99, 100, 101, 5_000] { try sender.sendWaiting(Array(repeating: 7, count: size)) }
    var drain = try DatagramDrain(capacity: 100)
    #expect(drain.receive(from: socket.descriptor) == 4)
    let datagrams = (0..<4).map { drain.datagram($0) }
    #expect(datagrams.map(\.bytes.count) == [99, 100, 100, 100])
    #expect(datagrams.map(\.isTruncated) == [false, false, true, true])
  }

  @Test("accounts with the kernel for every datagram that was sent")
  func countsKernelDrops() throws {
    let socket = try TestSocket(receiveBuffer: 8_192)
    let sender = try DatagramSender(to: socket.address)
    let sent = 500
    for _ in 0..<sent { try sender.sendWaiting(Array(repeating: 1, count: 400)) }
    var drain = try DatagramDrain(capacity: 1_024)
    var received = 0
    while true {
      let count = drain.receive(from: socket.descriptor)
      guard count > 0 else { break }
      received += count
    }
    let drops = pharos_kernel_drops(socket.descriptor)
    #expect(received < sent)
    #expect(Int64(received) + drops == Int64(sent))
  }

  @Test("gives nothing for a descriptor that is none, and refuses slots of a silly size")
  func toleratesNonsense() throws {
    var drain = try DatagramDrain(capacity: 64)
    #expect(drain.receive(from: -1) == 0)
    for capacity in [0, 63, 65_537] {
      #expect(throws: IngestError.outOfMemory) { _ = try DatagramDrain(capacity: capacity) }
    }
  }

  @Test("grants the receive buffer that is asked for in the unit it was asked in")
  func grantsBuffers() throws {
    let socket = try TestSocket(receiveBuffer: 100_000)
    #expect(pharos_receive_buffer(socket.descriptor) == 100_000)
  }

  /// Lengths that make trains of all sorts, and none.
  static let lengths: [[Int]] = [
    Array(0..<200),
    Array(repeating: 84, count: 300) + [40] + Array(repeating: 1_188, count: 130) + [1_189, 7, 7],
    [0, 0, 5, 5, 0, 5],
  ]

  @Test(
    "sends many datagrams in one call, as trains or one by one, and each arrives as it was",
    arguments: lengths,
    [true, false]
  )
  func sendsMany(lengths: [Int], trains: Bool) throws {
    let socket = try TestSocket()
    let sender = try DatagramSender(to: socket.address, sendBuffer: 4 << 20, sendsTrains: trains)
    var bytes: [UInt8] = []
    var ranges: [Range<Int>] = []
    for (number, length) in lengths.enumerated() {
      ranges.append(bytes.count..<bytes.count + length)
      bytes += (0..<length).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0) }
    }
    var sent = 0
    while sent < ranges.count {
      sent += try sender.send(bytes, ranges: ranges[sent...])
      if sent < ranges.count { sender.waitUntilWritable() }
    }
    var drain = try DatagramDrain(capacity: 2_048)
    var arrived: [[UInt8]] = []
    while true {
      let count = drain.receive(from: socket.descriptor)
      guard count > 0 else { break }
      arrived += (0..<count).map { Array(drain.datagram($0).bytes) }
    }
    #expect(arrived == ranges.map { Array(bytes[$0]) })
    let sendsTrains = sender.sendsTrains
    #expect(trains || !sendsTrains)
  }

  @Test("forgets the senders of unmonitored beacons, and learns them again once they are monitored")
  func leavesNamesOut() throws {
    let socket = try TestSocket()
    let sender = try DatagramSender(to: socket.address)
    var drain = try DatagramDrain(capacity: 1_024)
    for isNamed in [true, false, false, true, true, false] {
      for length in 1...3 { try sender.sendWaiting(Array(repeating: 9, count: length)) }
      #expect(drain.receive(from: socket.descriptor, named: isNamed) == 3)
      for slot in 0..<3 {
        #expect(drain.source(slot) == (isNamed ? sender.source : Endpoint.none))
        #expect(drain.datagram(slot).bytes.count == slot + 1)
      }
    }
  }
}
