import CAllocationCounter
import PharosIngest
import Synchronization
import Testing

/// What waking a thread asks the allocator for.
@Suite("Allocations of wake-ups", .enabled(if: allocations_are_counted(), "a sanitizer has the allocator"))
struct WakeAllocationTests {
  @Test("a signal allocates nothing, and the thousandth does what the first did")
  func signals() {
    let count = Atomic(0)
    let wake = Wake { action in action() }
    wake.setAction { count.add(1, ordering: .relaxed) }
    wake.signal()
    wake.begin()
    let before = allocation_count_of_this_thread()
    for _ in 0..<1_000 {
      wake.signal()
      wake.begin()
    }
    let allocations = allocation_count_of_this_thread() - before
    #expect(count.load(ordering: .relaxed) == 1_001)
    // A function that each reading wraps once more would show here, as it would in an hour's memory and time.
    #expect(allocations == 0, "\(allocations) allocations in 1,000 signals")
  }
}
