import Foundation
import PharosModel
import ServedProcess

extension Attack {
  /// Datagrams that are not what they should be.
  static let mutilating: [Attack] = [
    Attack(name: "truncated: a signed datagram, cut at every byte", needsKeys: true) { arena in
      let whole = arena.gateway.datagram([
        Gateway.plain, AdvertMaker.iBeacon(Bystanders.uuid, major: 1, minor: 1),
      ])
      let rounds = arena.tries(100, quick: 4)
      let datagrams = (0..<rounds).flatMap { _ in whole.indices.map { Array(whole[..<$0]) } }
      return try await refusals(datagrams, to: arena.signed, of: arena)
    },
    Attack(name: "every bit of a signed datagram flipped", needsKeys: true) { arena in
      var datagrams: [[UInt8]] = []
      for _ in 0..<arena.tries(20, quick: 1) {
        let whole = arena.gateway.datagram([
          Gateway.plain, AdvertMaker.iBeacon(Bystanders.uuid, major: 1, minor: 1),
        ])
        for bit in 0..<whole.count * 8 {
          var flipped = whole
          flipped[bit / 8] ^= 1 << (bit % 8)
          datagrams.append(flipped)
        }
      }
      return try await refusals(datagrams, to: arena.signed, of: arena)
    },
    Attack(name: "malformed, of every format") { arena in
      let count = arena.tries(50_000, quick: 2_000)
      return try await refusals(
        (0..<count).map { Spoilt.all[$0 % Spoilt.all.count] },
        to: arena.open,
        of: arena
      )
    },
    Attack(name: "oversized: 65,507 bytes each") { arena in
      // Begins as a Pharos datagram does, so that it is not refused at its first byte.
      let huge = Array("PHAR".utf8) + [1, 0, 0xFF, 0xFF] + [UInt8](repeating: 0x41, count: 65_499)
      let datagrams = [[UInt8]](repeating: huge, count: arena.tries(2_000, quick: 200))
      return try await refusals(datagrams, to: arena.open, of: arena)
    },
    Attack(name: "random bytes, as fast as they can be sent") { arena in
      let socket = try DatagramSocket(to: arena.open)
      let before = try await arena.metrics()
      let end = Date(timeIntervalSinceNow: arena.isQuick ? 2 : 30)
      var sent = 0
      var generator = SystemRandomNumberGenerator()
      while Date() < end {
        // A few thousand at a time, of one length each time, so that the sender is not what limits it.
        let length = Int.random(in: 1...600, using: &generator)
        var bytes = [UInt8](repeating: 0, count: length * 2_048)
        for place in stride(from: 0, to: bytes.count - 7, by: 8) {
          withUnsafeBytes(of: generator.next() as UInt64) {
            bytes.replaceSubrange(place..<place + 8, with: $0)
          }
        }
        socket.send(bytes, length: length)
        sent += 2_048
        await Task.yield()
      }
      return refusals(sent, before, try await arena.waitForDatagrams(before, sent: sent))
    },
  ]
}

/// Datagrams that begin as a format does and are spoilt behind that.
enum Spoilt {
  static let all: [[UInt8]] = pharos + raddec + json + ingics + huawei + minew

  private static let good = Gateway(.eui48(0x0200_0000_0001), key: nil).datagram([Gateway.plain])

  private static func changed(_ bytes: [UInt8], at place: Int, to value: UInt8) -> [UInt8] {
    var bytes = bytes
    bytes[place] = value
    return bytes
  }

  /// An unknown version; an unknown flag; a length that is not its own; no observer; a record beyond the end; cut.
  private static let pharos = [
    changed(good, at: 4, to: 9), changed(good, at: 5, to: 0x80), changed(good, at: 7, to: 3),
    changed(good, at: 29, to: 0), changed(good, at: 37, to: 0xFF), Array(good[..<20]),
  ]
  /// Too short; too long by one; a wrong checksum.
  private static let raddec = [
    [0x10], Array(Samples.all[1].bytes[..<12]), Samples.all[1].bytes + [0],
    changed(Samples.all[1].bytes, at: 8, to: 0x77),
  ]
  private static let json =
    [
      "{", "{\"observer\":", "[{\"observer\":\"x\",]", "{\"rssi\":-60}", "{\"observer\":\"\u{1}\"}",
      String(repeating: "[", count: 1_000),
    ].map { Array($0.utf8) } + [Array("{\"observer\":\"".utf8) + [0xFF, 0xFE] + Array("\"}".utf8)]
  private static let ingics = ["$GPRP,zz,zz,-60,02", "$GPRP", "$GPRP,AABBCCDDEEFF,020000000003,x,020106"].map
  {
    Array($0.utf8)
  }
  /// More tags than there are bytes; cut in the head.
  private static let huawei = [
    Array("HW".utf8) + [0, 2, 0, 0, 0, 0, 4, 0, 0, 200, 1, 2, 3], Array("HW".utf8) + [0, 2],
  ]
  /// A length that is not its own; cut; a wrong end.
  private static let minew: [[UInt8]] = [
    [0xBB, 0x01, 0, 0, 0xFF, 0], [0xBB, 0x01], [0xBB, 0x01, 0, 0, 0, 15, 2, 0, 0, 0, 0, 5, 0, 0, 0xEE],
  ]
}
