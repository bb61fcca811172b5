import Foundation
import PharosIngest
import PharosTestSupport
import Testing

@Suite("A single-producer ring")
struct SingleProducerRingTests {
  @Test(
    "gives back what an array would, whatever the order of pushes and pops",
    arguments: [1, 2, 3, 8, 100]
  )
  func behavesLikeAnArray(capacity: Int) {
    var generator = SeededGenerator(seed: UInt64(capacity))
    let ring = SingleProducerRing<Int>(capacity: capacity)
    var model: [Int] = []
    for number in 0..<4_000 {
      if Bool.random(using: &generator) {
        #expect(ring.hasRoom == (model.count < ring.capacity))
        let isPushed = ring.push(number)
        #expect(isPushed == (model.count < ring.capacity))
        if isPushed { model.append(number) }
      } else {
        #expect(ring.isEmpty == model.isEmpty)
        #expect(ring.withFirst { $0 } == model.first)
        #expect(ring.pop() == (model.isEmpty ? nil : model.removeFirst()))
      }
    }
  }

  @Test(
    "rounds its capacity up to a power of two",
    arguments: [(1, 1), (2, 2), (3, 4), (255, 256), (256, 256)]
  )
  func roundsUp(asked: Int, given: Int) {
    #expect(SingleProducerRing<Int>(capacity: asked).capacity == given)
  }

  @Test("loses, repeats and reorders nothing between two threads", .timeLimit(.minutes(20)))
  func crossesThreads() async {
    let ring = SingleProducerRing<[Int]>(capacity: 16)
    let count = 20_000
    async let producer: Void = onThread {
      for number in 0..<count {
        while !ring.push([number, number &* 31]) {}
      }
    }
    async let faults = onThread {
      var faults = 0
      for number in 0..<count {
        var element = ring.pop()
        while element == nil { element = ring.pop() }
        if element != [number, number &* 31] { faults += 1 }
      }
      return faults
    }
    await producer
    #expect(await faults == 0)
    #expect(ring.isEmpty)
  }

  @Test("releases elements that were not popped")
  func releasesTheRest() {
    final class Witness: Sendable {}
    weak var released: Witness?
    weak var popped: Witness?
    do {
      let ring = SingleProducerRing<Witness>(capacity: 4)
      let first = Witness()
      let second = Witness()
      popped = first
      released = second
      #expect(ring.push(first))
      #expect(ring.push(second))
      _ = ring.pop()
    }
    #expect(popped == nil)
    #expect(released == nil)
  }

  private func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      Thread { continuation.resume(returning: body()) }.start()
    }
  }
}
