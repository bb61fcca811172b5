import PharosDelivery
import PharosModel
import PharosPublishing

/// A reader of everything that one run publishes, which looks for what a decision hides.
///
/// It belongs to one world's thread, hence `@unchecked Sendable`.
final class LeakWatch: @unchecked Sendable {
  private unowned let world: FaultWorld
  private unowned let life: Life

  init(of life: Life, in world: FaultWorld) {
    self.life = life
    self.world = world
    life.commitPublisher.committed.tap { [weak self] batch in self?.check(batch) }
  }

  private func check(_ batch: [PublishedEvent]) {
    // Events are judged before they are committed, which may take a while.
    for event in batch.map(\.event) where world.consents.isLeak(event, since: life.judgedAt) {
      world.violate(.leak, "\(event.kind) of \(event.subject) is published, which is hidden")
    }
  }
}
