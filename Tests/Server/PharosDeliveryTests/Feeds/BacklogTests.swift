import PharosDelivery
import PharosModel
import PharosSampleEvents
import PharosTestSupport
import Testing

@Suite("The queue of commits")
struct BacklogTests {
  fileprivate enum Thing: Equatable {
    case event(Int)
    case checkpoint(UInt64)
  }

  /// Draws events, checkpoints, takings and strippings, and compares with an array.
  @Test("any order of calls gives what an array gives", arguments: Seeds.drawn(0..<200 as Range<UInt64>))
  func model(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var backlog = Backlog()
    var model: [Thing] = []
    var strippable = 0
    var number = 0
    var delivered: UInt64 = 0
    for _ in 0..<300 {
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<5:
        let events = (0..<Int.random(in: 1...12, using: &generator)).map { offset in
          Bool.random(using: &generator) ? Sample.enter(number + offset) : Sample.ranging(number + offset)
        }
        number += events.count
        let isDelivered = Bool.random(using: &generator)
        if isDelivered { delivered += UInt64(events.count) }
        model += events.map { .event($0.number + ($0.kind == .ranging ? 1_000_000 : 0)) }
        backlog.append(events, isDelivered: isDelivered)
      case 5:
        backlog.append(
          CommitPublisherCheckpoint(instant: Timestamp(seconds: 0), eventsBefore: delivered, encode: { [] })
        )
        // One waits at most: the newer one takes the place of the older.
        if let older = model.firstIndex(where: { !$0.isEvent }) {
          model.remove(at: older)
          strippable = max(0, strippable - (older < strippable ? 1 : 0))
        }
        model.append(.checkpoint(delivered))
      case 6:
        let stripped = backlog.strip { $0.kind == .ranging }.map { Thing.event($0.number + 1_000_000) }
        let later = model[strippable...].filter { $0.isReading }
        #expect(stripped == later)
        model = Array(model[..<strippable]) + model[strippable...].filter { !$0.isReading }
        strippable = model.count
      default:
        let maximum = Int.random(in: 1...20, using: &generator)
        let group = backlog.removeFirst(upTo: maximum)
        var accepted: [Thing] = []
        while let first = model.first, accepted.count < maximum {
          guard first.isEvent else { break }
          accepted.append(first)
          model.removeFirst()
          strippable = max(0, strippable - 1)
        }
        var checkpoint: UInt64?
        if accepted.count < maximum, case .checkpoint(let ordinal)? = model.first {
          checkpoint = ordinal
          model.removeFirst()
          strippable = max(0, strippable - 1)
        } else if case .checkpoint(let ordinal)? = model.first, group?.checkpoint != nil {
          checkpoint = ordinal
          model.removeFirst()
          strippable = max(0, strippable - 1)
        }
        let given = (group?.events ?? []).map {
          Thing.event($0.number + ($0.kind == .ranging ? 1_000_000 : 0))
        }
        #expect(given == accepted)
        #expect(group?.checkpoint?.eventsBefore == checkpoint)
        if let checkpoint { #expect(group?.ordinal == checkpoint) }
      }
      #expect(backlog.count == model.count(where: \.isEvent))
      #expect(backlog.delivered == delivered)
    }
  }
}

extension BacklogTests.Thing {
  fileprivate var isEvent: Bool { if case .event = self { true } else { false } }
  fileprivate var isReading: Bool { if case .event(let number) = self { number >= 1_000_000 } else { false } }
}
