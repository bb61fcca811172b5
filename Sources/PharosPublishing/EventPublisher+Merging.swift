import Synchronization

extension EventPublisher {
  /// The elements of this stream and of others, in the order in which they come; it ends when all of them have ended.
  ///
  /// Streams of one hub keep the hub's order, since they share one queue from there on. The policy of the queue is this
  /// stream's.
  ///
  /// - Parameter others: streams of the same elements.
  /// - Returns: the stream.
  public func merge(with others: EventPublisher...) -> EventPublisher {
    EventPublisher(source: StreamSource(merging: [source] + others.map(\.source)), overflow: overflow)
  }
}

extension StreamSource {
  private struct Merging {
    /// By the number of each attachment to all of them, the numbers of those to each.
    var attachments: [UInt64: [UInt64]] = [:]
    var nextID: UInt64 = 0
  }

  /// Makes one source of several.
  init(merging sources: [StreamSource]) {
    let merging = MutexBox(Merging())
    self.init(
      attach: { take, finish in
        let unfinished = MutexBox(sources.count)
        let ids = sources.map { source in
          source.attach(take) {
            let isLast = unfinished.mutex.withLock { count in
              count -= 1
              return count == 0
            }
            if isLast { finish() }
          }
        }
        return merging.mutex.withLock { merging in
          merging.nextID += 1
          merging.attachments[merging.nextID] = ids
          return merging.nextID
        }
      },
      detach: { id in
        let ids = merging.mutex.withLock { $0.attachments.removeValue(forKey: id) } ?? []
        for (source, id) in zip(sources, ids) { source.detach(id) }
      }
    )
  }
}

/// A mutex that several closures share.
private final class MutexBox<Value: Sendable>: Sendable {
  let mutex: Mutex<Value>

  init(_ value: Value) { mutex = Mutex(value) }
}
