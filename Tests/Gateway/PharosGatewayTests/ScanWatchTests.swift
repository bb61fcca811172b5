import PharosCaptures
import PharosGateway
import PharosModel
import Testing

@Suite("How much a radio listens")
struct ScanWatchTests {
  /// What the heartbeats of a gateway say that read these commands, one a second.
  private func duties(_ commands: [(at: Int64, opcode: UInt16, parameters: [UInt8])]) throws -> [Float?] {
    var world = GatewayWorld()
    for command in commands {
      try world.pass(to: .at(command.at))
      try world.receive(BtsnoopBytes.command(command.opcode, command.parameters, at: world.now))
    }
    try world.pass(to: .at(4_500))
    return world.arrived.flatMap(\.heartbeats).map(\.scanDuty)
  }

  private static let parameters: [UInt8] = [1, 0x60, 0, 0x30, 0, 0, 0]

  @Test("the window's share of the interval while scanning is enabled")
  func legacy() throws {
    let duties = try duties([
      (at: 100, 0x200B, Self.parameters), (at: 100, 0x200C, [1, 0]), (at: 2_500, 0x200C, [0, 0]),
    ])
    // The first heartbeats fall on 0 and 1 s; what came before the first command is not known.
    #expect(duties == [nil, nil, 0.5, 0.25, 0])
  }

  @Test("the shares of both PHYs of extended scanning together")
  func extended() throws {
    let duties = try duties([
      (at: 0, 0x2041, [0, 0, 0b101, 1, 0x60, 0, 0x30, 0, 1, 0x60, 0, 0x18, 0]),
      (at: 0, 0x2042, [1, 0, 0, 0, 0, 0]),
    ])
    #expect(duties.last == 0.75)
  }

  @Test(
    "a host that filters duplicates is reported once",
    arguments: [
      (0x200C, [1, 1], 1), (0x200C, [1, 0], 0), (0x2042, [1, 1, 0, 0, 0, 0], 1),
      (0x2042, [1, 2, 0, 0, 0, 0], 1),
      (0x2042, [1, 0, 0, 0, 0, 0], 0), (0x200C, [0, 1], 0), (0x200C, [1], 0),
    ] as [(UInt16, [UInt8], Int)]
  )
  func duplicates(opcode: UInt16, parameters: [UInt8], count: Int) throws {
    var world = GatewayWorld()
    for _ in 0..<2 { try world.receive(BtsnoopBytes.command(opcode, parameters, at: world.now)) }
    try world.pass(to: .at(1_000))
    #expect(world.notices.filter { $0 == .filtersDuplicates }.count == count)
  }

  @Test("a radio whose parameters were set before the trace began tells no share")
  func unknown() throws {
    let duties = try duties([(at: 0, 0x200C, [1, 0])])
    #expect(duties.allSatisfy { $0 == nil })
  }

  @Test("parameters that make no sense, and commands that are cut, tell nothing")
  func damaged() throws {
    let duties = try duties([
      (at: 0, 0x200B, [1, 0x10, 0, 0x20, 0, 0, 0]), (at: 0, 0x200C, [1, 0]), (at: 10, 0x200B, [1]),
      (at: 20, 0x200C, []),
      (at: 30, 0x2041, [0, 0, 0b101, 1, 0x60]),
    ])
    #expect(duties.allSatisfy { $0 == nil })
  }
}
