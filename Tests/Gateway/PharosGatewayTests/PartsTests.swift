import PharosGateway
import PharosModel
import PharosTestSupport
import Testing

@Suite("The parts of a gateway")
struct PartsTests {
  @Test("a queue of parcels does what an array does", arguments: Seeds.drawn(0..<10))
  func queue(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var queue = ParcelQueue()
    var model: [UInt32] = []
    var next: UInt32 = 0
    func parcel() -> Parcel {
      var parcel = Parcel(start: .at(0), length: 0)
      parcel.sequence = next
      next += 1
      return parcel
    }
    for _ in 0..<2_000 {
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1:
        let parcel = parcel()
        model.append(parcel.sequence ?? 0)
        queue.append(parcel)
      case 2:
        let parcels = (0..<Int.random(in: 0...3, using: &random)).map { _ in parcel() }
        model = parcels.map { $0.sequence ?? 0 } + model
        queue.prepend(parcels)
      default:
        #expect(queue.popFirst()?.sequence == (model.isEmpty ? nil : model.removeFirst()))
      }
      #expect(queue.count == model.count)
      #expect(queue.first?.sequence == model.first)
      #expect(queue.memory == model.count * MemoryLayout<Parcel>.stride)
    }
  }

  @Test("a heartbeat that was dropped gives back what it would have said")
  func tally() {
    var tally = HeartbeatTally()
    for _ in 0..<3 { tally.receive() }
    tally.drop(2)
    let lost = tally.drain(scanDuty: 0.5)
    #expect(lost == Heartbeat(advertsHeard: 3, scanDuty: 0.5, dropped: 2))
    tally.receive()
    tally.restore(lost)
    #expect(tally.drain(scanDuty: nil) == Heartbeat(advertsHeard: 4, scanDuty: nil, dropped: 2))
    #expect(tally.drain(scanDuty: nil) == Heartbeat(advertsHeard: 0, scanDuty: nil, dropped: 0))
  }

  @Test("a capture is played at its intervals, and never backwards")
  func playback() {
    var playback = Playback(speed: 2)
    #expect(playback.due(.at(10_000), at: .at(500)) == .at(500))
    #expect(playback.due(.at(11_000), at: .at(600)) == .at(1_000))
    #expect(playback.due(.at(9_000), at: .at(600)) == .at(1_000))
    #expect(playback.due(nil, at: .at(600)) == .at(1_000))
    #expect(playback.due(.at(12_000), at: .at(600)) == .at(1_500))
  }

  @Test(
    "a pace is a factor or max",
    arguments: [
      ("1", .recorded(speed: 1)), ("0.5", .recorded(speed: 0.5)), ("max", .asItComes), ("0", nil),
      ("-1", nil),
      ("fast", nil), ("nan", nil), ("", nil),
    ] as [(String, GatewayPace?)]
  )
  func pace(text: String, pace: GatewayPace?) {
    #expect(GatewayPace(text) == pace)
  }

  @Test(
    "a destination is a host and a port",
    arguments: [
      ("a.example:50001", "a.example:50001"), ("[::1]:9", "[::1]:9"), ("1.2.3.4:65535", "1.2.3.4:65535"),
      ("a:0", nil), ("a:65536", nil), ("a", nil), (":5", nil), ("::1:5", nil), ("a b:5", nil), ("a:+5", nil),
      ("a:", nil), ("*:50001", nil),
    ] as [(String, String?)]
  )
  func destination(text: String, described: String?) {
    #expect((try? GatewayCommand.destination(text))?.description == described)
  }

  @Test("the observer of a file is named after the file, that of a pipe after the host")
  func observer() {
    #expect(ObserverID.ofInput("/x/hall.btsnoop.gz", hostName: "pi") == .name("hall"))
    #expect(ObserverID.ofInput("-", hostName: "pi") == .name("pi"))
    #expect(ObserverID.ofInput("-", hostName: nil) == nil)
    #expect(ObserverID.ofInput("ac233fa00001.pcap", hostName: nil) == .eui48(0xAC23_3FA0_0001))
  }
}
