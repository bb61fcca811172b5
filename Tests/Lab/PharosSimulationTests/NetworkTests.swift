import PharosModel
import PharosSimulation
import PharosTestSupport
import Testing

@Suite("Network")
struct NetworkTests {
  private func playback(_ network: Network) throws -> Playback {
    var observer = Bench.observer()
    observer.network = network
    return Playback(Bench.scene(seconds: 420, observers: [observer]))
  }

  @Test("datagrams take their delay and some jitter")
  func delay() throws {
    let network = Network(delay: .milliseconds(5), jitter: .milliseconds(2))
    let playback = try playback(network)
    let delays = playback.datagrams.map {
      ($0.received - Scene.defaultStart).milliseconds - $0.head.uptime.milliseconds
    }
    #expect(delays.allSatisfy { $0 >= 5 })
    // Up-time is in whole milliseconds, half a millisecond too little in the mean.
    #expect(abs(delays.mean - 7.5) < 0.3)
  }

  @Test("a share is lost, and its numbers are missing")
  func loss() throws {
    let playback = try playback(Network(loss: 0.1))
    let last = try #require(playback.datagrams.last?.head.sequence)
    let sequences = Set(playback.datagrams.map(\.head.sequence))
    #expect(sequences.count == playback.datagrams.count)
    #expect(abs(Double(sequences.count) / Double(last + 1) - 0.9) < 0.02)
  }

  @Test("a share arrives twice, the same both times")
  func duplication() throws {
    let playback = try playback(Network(duplication: 0.1))
    let bySequence = Dictionary(grouping: playback.datagrams, by: \.head.sequence)
    let twice = bySequence.values.filter { $0.count == 2 }
    #expect(abs(Double(twice.count) / Double(bySequence.count) - 0.1) < 0.02)
    #expect(bySequence.values.allSatisfy { $0.count <= 2 })
    for pair in twice {
      #expect(pair[0].head == pair[1].head)
      #expect(pair[0].reports.payloads == pair[1].reports.payloads)
      #expect(pair[0].received <= pair[1].received)
    }
  }

  @Test("a share is overtaken, and receive times still only grow")
  func reordering() throws {
    let playback = try playback(Network(reordering: 0.1, detour: .milliseconds(500)))
    let sequences = playback.datagrams.map(\.head.sequence)
    let overtaken = zip(sequences, sequences.dropFirst()).count { $1 < $0 }
    #expect(overtaken > 150)
    #expect(Set(sequences).count == sequences.count)
    for (one, other) in zip(playback.datagrams, playback.datagrams.dropFirst()) {
      #expect(one.received <= other.received)
    }
  }
}
