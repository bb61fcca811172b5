public import PharosCaptures
public import PharosDocuments
public import PharosModel
package import PharosWire

/// Turns the bytes of a capture or a recording into inputs of a ``Pipeline``.
///
/// Push style, as the reader below it: append a chunk, take inputs until there are none, and so on; after the last chunk
/// call ``finish()`` and take what is left. UDP datagrams are decoded by their wire formats; Bluetooth packets become adverts that a given
/// observer heard, since a radio capture names none. R is the packet's time, never going back (see
/// `CaptureTimeline`); a packet that has no time takes that of the one before.
///
/// It throws one ``CaptureFeedError`` at most, after everything before the damage was given.
public struct CaptureFeed: Sendable {
  /// The observer that counts as having heard the Bluetooth packets.
  public let observer: ObserverID
  /// Indicates whether a site was found in it: a recording of a server's inputs.
  package private(set) var isRecording = false

  private var reader = CaptureReader()
  private var assembler = DatagramAssembler()
  private var extractor = AdvertExtractor()
  private var decoder = DatagramDecoder()
  private var tally = CaptureFeedCounters()
  private var batch = ReportBatch()
  /// A batch that was given and taken back, empty but for its storage.
  private var spare = ReportBatch()
  private var waiting: PipelineInput?
  private var assembly = PartAssembly()
  private var damage: CaptureFeedError?
  private var isDamageReported = false
  private var timeline: CaptureTimeline

  /// Starts with nothing read.
  ///
  /// - Parameters:
  ///   - observer: the observer that counts as having heard the Bluetooth packets.
  ///   - end: the R of the last packet of the capture of which this is a further part.
  public init(observer: ObserverID, after end: Timestamp? = nil) {
    self.observer = observer
    timeline = CaptureTimeline(after: end)
  }

  /// The counters so far.
  package var counters: CaptureFeedCounters {
    var counters = tally
    counters.udp = assembler.counters
    counters.bluetooth = extractor.counters
    counters.datagrams = decoder.counters
    counters.foreign = reader.foreign
    counters.timeline = timeline
    return counters
  }

  /// The R of the last packet or input, if there was any.
  package var latestTime: Timestamp? { timeline.latest }

  /// The position up to which the file has been read.
  ///
  /// - Units: bytes.
  package var offset: UInt64 { reader.offset }

  /// Takes the next bytes of the file.
  public mutating func append(_ bytes: [UInt8]) { reader.append(bytes) }

  /// Takes the next bytes of the file.
  package mutating func append(_ bytes: RawSpan) { reader.append(bytes) }

  /// The next input, or nil when more bytes are needed.
  ///
  /// - Parameter maxReports: the number of reports at which a batch is given; the last datagram may bring some more.
  /// - Returns: the input.
  /// - Throws: damage, once, after everything before it was given.
  public mutating func next(maxReports: Int = 1_024) throws(CaptureFeedError) -> PipelineInput? {
    if let input = waiting {
      waiting = nil
      return input
    }
    while damage == nil, batch.count < max(1, maxReports), waiting == nil {
      guard let item = read() else { break }
      switch item {
      case .packet(let packet): receive(packet)
      case .block(let block): receive(block)
      }
    }
    if !batch.isEmpty { return .reports(drainBatch()) }
    if let input = waiting {
      waiting = nil
      return input
    }
    if let damage, !isDamageReported {
      isDamageReported = true
      throw damage
    }
    return nil
  }

  /// Ends the input; call it after the last chunk, once ``next(maxReports:)`` has returned nil.
  ///
  /// - Throws: an error if the file is cut off, unless ``next(maxReports:)`` has already thrown one for damage.
  public mutating func finish() throws(CaptureFeedError) {
    guard damage == nil else { return }
    do {
      try reader.finish()
    } catch {
      damage = .capture(error)
      isDamageReported = true
      throw .capture(error)
    }
  }

  /// The reader's next item; damage is kept until what came before it was given.
  private mutating func read() -> CaptureItem? {
    do {
      return try reader.next()
    } catch {
      damage = .capture(error)
      return nil
    }
  }

  private mutating func drainBatch() -> ReportBatch {
    var drained = ReportBatch()
    swap(&drained, &spare)
    swap(&drained, &batch)
    return drained
  }

  /// Takes back an input that the caller has finished with, so that the next batch grows in its storage.
  ///
  /// If the caller keeps no input and hands all of them back, no further batch allocates memory.
  public mutating func recycle(_ input: consuming PipelineInput) {
    guard case .reports(var batch) = consume input else { return }
    batch.removeAll()
    spare = batch
  }

  // MARK: Packets

  private mutating func receive(_ packet: Packet) {
    tally.packets &+= 1
    let received = stamp(packet.time)
    guard packet.linkType.isBluetooth else { return receiveDatagram(in: packet, received) }
    let before = batch.count
    // Its own copy: the extractor hands over reports while the batch takes them.
    var filled = ReportBatch()
    swap(&filled, &batch)
    extractor.forEachReport(in: packet) { report in
      report.append(to: &filled, observer: observer, received: received)
    }
    swap(&filled, &batch)
    tally.reports &+= UInt64(batch.count - before)
  }

  private mutating func receiveDatagram(in packet: Packet, _ received: Timestamp) {
    guard let datagram = assembler.add(packet) else { return }
    guard !datagram.isSnapped else {
      _ = decoder.refuseTruncated(datagram.payload.span.bytes)
      return
    }
    decode(datagram.payload, received)
  }

  private mutating func decode(_ datagram: ArraySlice<UInt8>, _ received: Timestamp) {
    let before = batch.count
    _ = decoder.decode(datagram.span.bytes, received: received, into: &batch)
    tally.reports &+= UInt64(batch.count - before)
  }

  /// R of a packet.
  private mutating func stamp(_ time: Timestamp?) -> Timestamp {
    if let time { return timeline.receive(time, isHeld: isRecording) }
    tally.timeless &+= 1
    let latest = timeline.latest ?? Timestamp(nanoseconds: 0)
    timeline.advance(to: latest)
    return latest
  }

  // MARK: Blocks

  private mutating func receive(_ block: LocalBlock) {
    guard block.type == RecordedInput.blockType, let content = block.content else {
      tally.foreignBlocks &+= 1
      return
    }
    do {
      waiting = try input(of: try RecordedInput(decoding: content))
      tally.otherInputs &+= 1
    } catch {
      damage = .recording(error, offset: reader.offset)
    }
  }

  /// Returns the input that a block holds; nil for a part of something larger.
  private mutating func input(of recorded: RecordedInput) throws(FieldError) -> PipelineInput? {
    if let instant = recorded.instant { timeline.advance(to: instant) }
    switch recorded {
    case .site(let site):
      isRecording = true
      return .site(site)
    case .tick(let instant): return .tick(through: instant)
    case .change(let change, let instant): return .change(change, at: instant)
    case .clockStep(let step, let instant): return .clockStep(step, at: instant)
    case .restored(let part, let instant):
      guard let whole = try assembly.add(part) else { return nil }
      var reader = FieldReader(whole[...])
      let restoration = try Restoration(from: &reader)
      try reader.finish()
      return .restored(restoration, at: instant)
    case .datagram(let part, from: _, to: _, at: let instant):
      guard let whole = try assembly.add(part) else { return nil }
      tally.packets &+= 1
      decode(whole[...], instant)
      return nil
    case .pause(through: let end, at: let instant): return .pause(through: end, at: instant)
    case .announced(let event, let instant): return .announced(event, at: instant)
    }
  }
}

/// The counters of a capture feed.
package struct CaptureFeedCounters: Sendable {
  /// Packets of any sort.
  package var packets: UInt64 = 0
  /// Reports that they gave.
  package var reports: UInt64 = 0
  /// Inputs of a recording that are no datagrams, the site among them.
  package var otherInputs: UInt64 = 0
  /// Blocks for local use of other programs.
  package var foreignBlocks: UInt64 = 0
  /// Bytes between the records of a btsnoop file that belong to none.
  package var foreign = ForeignBytes()
  /// The receive times, and how far packets go back in time.
  package var timeline = CaptureTimeline()
  /// Packets without a time, which took that of the one before.
  package var timeless: UInt64 = 0
  /// The counters of packets that may hold UDP.
  package var udp = CaptureCounters()
  /// The counters of packets that hold Bluetooth.
  package var bluetooth = CaptureCounters()
  /// Datagrams decoded and refused, by format and reason.
  package var datagrams = DatagramCounters()

  /// Starts at zero.
  package init() {}
}

/// The reason why a capture or recording could not be read further; everything before was given.
public enum CaptureFeedError: Error, Equatable, Sendable {
  /// The file is damaged, cut off or no capture.
  case capture(CaptureError)
  /// An input of a recording is damaged: the block that ends at the offset.
  case recording(FieldError, offset: UInt64)

  /// Indicates whether the file just ends too early, as a file does that is still being written.
  package var isCut: Bool {
    guard case .capture(let error) = self, case .cut = error.problem else { return false }
    return true
  }
}

extension CaptureFeedError: CustomStringConvertible {
  /// A description of what is wrong, where, and what to do.
  public var description: String {
    switch self {
    case .capture(let error): error.description
    case .recording(let error, let offset):
      "at byte \(offset): recorded input, \(Wording.clause(error)). The file is damaged, or another version wrote it: record again."
    }
  }
}
