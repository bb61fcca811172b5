import PharosDocuments
public import PharosModel
import Synchronization

/// The hub of published events: one sender, any number of subscribers, none of which can delay another.
///
/// The same queues and policies as ``EventHub``, one step later. Its events may be shown to the network: they are
/// committed to the journal, with their sequence numbers, or, like ranging, are of a kind that is never kept.
public final class CommittedEventHub: Sendable {
  private let hub = Hub<PublishedEvent>()

  /// Makes a hub without subscribers.
  public init() {}

  /// The number of subscriptions.
  public var subscriptionCount: Int { hub.count }

  /// Every published event, one by one.
  public var events: EventPublisher<PublishedEvent, Never> { hub.stream { $0 } }

  /// Every published event in the batches they were committed in.
  public var batches: EventPublisher<[PublishedEvent], Never> { hub.stream { [$0] } }

  /// Hands a batch to every subscription; never blocks.
  ///
  /// To be called from one thread at a time, with sequence numbers that rise.
  public func publish(_ batch: [PublishedEvent]) { hub.publish(batch) }

  /// Ends every subscription once its queue is empty; later subscriptions end at once.
  public func finish() { hub.finish() }

  /// Calls a function with every batch on the sender's thread, for those who must miss none and keep a bound of
  /// their own.
  ///
  /// - Parameters:
  ///   - receive: called with each batch; it must put the batch aside and return.
  ///   - onFinish: called once when nothing follows.
  /// - Returns: the tap, by which to end the calls.
  @discardableResult
  public func tap(
    _ receive: @escaping @Sendable ([PublishedEvent]) -> Void,
    onFinish: @escaping @Sendable () -> Void = {}
  ) -> HubTap {
    hub.tap(receive, onFinish: onFinish)
  }
}

/// An event as it is published outside the process: the decision, its sequence number in the journal and its JSON.
///
/// Copies share one storage, so a thousand streams that wait for their clients hold one event and one JSON text.
public struct PublishedEvent: Sendable {
  private final class Storage: Sendable {
    let sequence: Int64?
    let isLiveOnly: Bool
    let stream: String
    let names: SiteNames?
    let event: Event
    let json = Mutex<[UInt8]?>(nil)
    let frame = Mutex<[UInt8]?>(nil)

    init(sequence: Int64?, event: Event, isLiveOnly: Bool, stream: String, names: SiteNames?) {
      self.sequence = sequence
      self.event = event
      self.isLiveOnly = isLiveOnly
      self.stream = stream
      self.names = names
    }

    /// The event as CloudEvents JSON, with the names of what it mentions.
    var text: [UInt8] {
      var json = JSONText()
      json.names = names
      event.write(to: &json, stream: stream)
      return json.utf8
    }
  }

  private let storage: Storage

  /// Creates an event to publish.
  ///
  /// - Parameters:
  ///   - sequence: the sequence number in the journal, or nil for an event that the journal does not keep.
  ///   - event: the decision.
  ///   - isLiveOnly: indicates whether the event goes only to live streams of applications whose authorisation for its
  ///     subject is `whenInUse`.
  ///   - stream: the name of the stream, which the JSON carries as `source`.
  public init(sequence: Int64?, event: Event, isLiveOnly: Bool = false, stream: String) {
    self.init(sequence: sequence, event: event, isLiveOnly: isLiveOnly, stream: stream, names: nil)
  }

  /// Creates an event to publish, with the names that its JSON states beside identities.
  package init(
    sequence: Int64?,
    event: Event,
    isLiveOnly: Bool = false,
    stream: String,
    names: SiteNames?
  ) {
    storage = Storage(
      sequence: sequence,
      event: event,
      isLiveOnly: isLiveOnly,
      stream: stream,
      names: names
    )
  }

  /// The sequence number in the journal: from 1, without gaps; nil for an event that is not kept there, such as
  /// ranging.
  public var sequence: Int64? { storage.sequence }
  /// The decision.
  public var event: Event { storage.event }
  /// The flag that limits the event to live streams of applications whose authorisation for its subject is `whenInUse`.
  public var isLiveOnly: Bool { storage.isLiveOnly }

  /// Returns another text of the same event, for a reader that may not learn all that it names.
  package func replacingEvent(_ event: Event) -> PublishedEvent {
    PublishedEvent(
      sequence: sequence,
      event: event,
      isLiveOnly: isLiveOnly,
      stream: storage.stream,
      names: storage.names
    )
  }

  /// The event as CloudEvents JSON in UTF-8, one line without its end; written when first asked for, then shared.
  public var cloudEvent: [UInt8] {
    storage.json.withLock { json in
      if let json { return json }
      let text = storage.text
      json = text
      return text
    }
  }
}

extension PublishedEvent {
  /// The event as a frame of a live stream, which a function writes when it is first asked for, and all streams share.
  ///
  /// - Parameter write: writes the frame of the event's JSON; always the same function.
  /// - Returns: the frame.
  package func frame(_ write: (_ json: [UInt8]) -> [UInt8]) -> [UInt8] {
    storage.frame.withLock { frame in
      if let frame { return frame }
      let written = write(storage.text)
      frame = written
      return written
    }
  }
}

extension PublishedEvent: Equatable {
  /// Returns whether both have the same event, sequence number and `isLiveOnly`.
  public static func == (left: PublishedEvent, right: PublishedEvent) -> Bool {
    left.storage === right.storage
      || left.sequence == right.sequence && left.isLiveOnly == right.isLiveOnly && left.event == right.event
  }
}
