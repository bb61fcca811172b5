import OpenCombine
import PharosModel
import PharosPublishing
import PharosSampleEvents
import PharosTestSupport
import Testing

/// Fixes as a subscriber gets them: the newest of each subject, as far as it asks.
@Suite("Streams of fixes", .timeLimit(.minutes(20)))
struct FixStreamTests {
  private func fix(_ subject: String, _ second: Int) -> Event { Sample.fix(second, subject: subject) }

  private func words(_ fixes: [Fix]) -> [String] {
    fixes.map { "\($0.subject)@\($0.time.nanoseconds / 1_000_000_000)" }
  }

  @Test("a fix that is not taken before the next one about the same subject is replaced by it")
  func newest() async {
    let hub = EventHub()
    let recorder = Recorder<Fix, Never>(initial: 0)
    hub.fixes().subscribe(recorder)
    hub.publish([fix("a", 1), fix("b", 1), fix("a", 2)])
    hub.publish([fix("a", 3)])
    recorder.request(1)
    await recorder.wait { $0.elements.count == 1 }
    #expect(words(recorder.elements) == ["a@3"])
    hub.publish([fix("a", 4), fix("b", 5), fix("c", 5)])
    recorder.request(2)
    await recorder.wait { $0.elements.count == 3 }
    // b has waited longest; a began to wait again after it was taken.
    #expect(words(recorder.elements) == ["a@3", "b@5", "a@4"])
    hub.finish()
    recorder.request(5)
    await recorder.wait { $0.isComplete }
    #expect(words(recorder.elements) == ["a@3", "b@5", "a@4", "c@5"])
  }

  @Test("one subject's stream carries its fixes and nothing else, and the sequence gives the same")
  func selection() async {
    let hub = EventHub()
    let (own, all) = (hub.fixes(for: .observer(.name("b"))).sequence, hub.fixes().sequence)
    let every = hub.fixes(for: .observer(.name("a"))).buffering(10).sequence
    hub.publish([fix("a", 1), fix("b", 2)] + batch(0..<3))
    hub.publish([fix("a", 3), fix("b", 4)])
    hub.finish()
    #expect(await words(collect(own)) == ["b@4"])
    #expect(await words(collect(all)) == ["a@3", "b@4"])
    #expect(await words(collect(every)) == ["a@1", "a@3"])
    #expect(all.dropped == 0)
  }

  @Test("merged streams keep the hub's order and end with the last of them")
  func merging() async {
    let (hub, other) = (EventHub(), EventHub())
    let merged = hub.fixes(for: .observer(.name("a"))).buffering(10)
      .merge(with: hub.fixes(for: .observer(.name("b"))), other.fixes()).sequence
    hub.publish([fix("a", 1), fix("b", 1)])
    other.publish([fix("x", 1)])
    hub.publish([fix("b", 2)])
    hub.publish([fix("a", 3)])
    hub.finish()
    other.publish([fix("x", 4)])
    other.finish()
    #expect(await words(collect(merged)) == ["a@1", "b@1", "x@1", "b@2", "a@3", "x@4"])
    do {
      let idle = other.fixes().merge(with: hub.fixes()).sequence
      #expect(await words(collect(idle)).isEmpty)
      let open = EventHub()
      let dropped = open.fixes().merge(with: open.fixes()).sequence
      #expect(open.subscriptionCount == 2)
      withExtendedLifetime(dropped) {}
      #expect(dropped.dropped == 0)
    }
  }

  @Test("waiting fixes are bounded by the number of subjects, the oldest goes first")
  func bound() async {
    let hub = EventHub()
    let sequence = hub.fixes().sequence
    for number in 0..<(EventHub.maximumFixSubjects + 3) { hub.publish([fix("s\(number)", number)]) }
    hub.publish([fix("s5", 99)])
    hub.finish()
    #expect(sequence.dropped == 3)
    let accepted = await collect(sequence)
    #expect(accepted.count == EventHub.maximumFixSubjects)
    #expect(words(Array(accepted.prefix(3))) == ["s3@3", "s4@4", "s5@99"])
  }

  @Test(
    "insertions and removals give what a plain list gives",
    arguments: Seeds.drawn(0..<20 as Range<UInt64>)
  )
  func model(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var elements = NewestElements<Int>()
    var model: [(subject: SubjectID, value: Int)] = []
    for step in 0..<3_000 {
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<6:
        let subject = SubjectID.observer(.name("s\(Int.random(in: 0..<90, using: &generator))"))
        elements.put(step, about: subject)
        if let place = model.firstIndex(where: { $0.subject == subject }) {
          model[place].value = step
        } else {
          model.append((subject, step))
        }
      case 6..<9:
        let maximum = [0, 1, 2, 7, 64, Int.max].randomElement(using: &generator) ?? 1
        let expected = model.prefix(maximum).map(\.value)
        #expect(Array(elements.removeFirst(upTo: maximum)) == expected)
        model.removeFirst(expected.count)
      default:
        elements.dropOldest()
        if !model.isEmpty { model.removeFirst() }
      }
      #expect(elements.count == model.count)
    }
  }
}
