import PharosModel
import PharosWire
import ServedProcess

extension Attack {
  /// Attacks by a sender that pretends to be the gateway.
  static let spoofing: [Attack] = [
    spoofed("spoofed: not signed", for: ["not_signed"]) { arena in
      Gateway(Arena.good, key: nil, boot: 200)
    },
    spoofed("spoofed: a wrong secret under the right key id", for: ["bad_signature"]) { arena in
      guard let key = arena.gateway.key else { return arena.gateway }
      let secret = (0..<32).map { _ in UInt8.random(in: 0...255) }
      return Gateway(Arena.good, key: Key(id: key.id, secret: secret), boot: 200)
    },
    spoofed("spoofed: an unknown key id", for: ["unknown_key"]) { arena in
      guard let key = arena.gateway.key else { return arena.gateway }
      return Gateway(Arena.good, key: Key(id: key.id ^ 0x5555_5555, secret: key.secret), boot: 200)
    },
    spoofed("spoofed: the key of another observer", for: ["unknown_key"]) { arena in
      Gateway(Arena.good, key: arena.foreign.key, boot: 200)
    },
    spoofed("spoofed: an observer that has no key", for: ["unknown_key"]) { arena in
      Gateway(.eui48(0xAC23_3FA0_0099), key: arena.foreign.key, boot: 200)
    },
    Attack(name: "spoofed: formats that cannot be signed", needsKeys: true) { arena in
      let valid = Samples.all.filter { $0.name != "pharos" }.map(\.bytes)
      let count = arena.tries(10_000, quick: 500)
      let datagrams = (0..<count).map { valid[$0 % valid.count] }
      return try await refusals(datagrams, to: arena.signed, of: arena, for: ["not_signed"])
    },
  ]

  private static func spoofed(
    _ name: String,
    for reasons: [String],
    _ gateway: @escaping @Sendable (Arena) -> Gateway
  ) -> Attack {
    Attack(name: name, needsKeys: true) { arena in
      let gateway = gateway(arena)
      let payload = AdvertMaker.iBeacon(Bystanders.uuid, major: 1, minor: 1)
      let datagrams = (0..<arena.tries(20_000, quick: 1_000)).map { _ in gateway.datagram([payload]) }
      return try await refusals(datagrams, to: arena.signed, of: arena, for: reasons)
    }
  }
}
