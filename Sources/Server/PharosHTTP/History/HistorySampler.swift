package import Logging
import Pharos
package import PharosDelivery
import PharosIngest
package import PharosJournal
package import PharosModel
package import PharosPipeline
package import PharosPresence
import PharosSite
import ServiceLifecycle

/// The state of a server, or of a simulated one, that the summaries of a minute are taken from.
package struct HistoryState {
  /// The time of the state, by the engine's clock.
  package var time: Timestamp
  /// The states of the observers.
  package var observers: [ObserverStatus]
  /// The zones of tags, and which observers hear them.
  package var tags: [TagStanding]
  /// The zones, and the applications with their regions.
  package var site: Site
  /// The states, rangings and fixes that were published.
  package var states: StateCache
  /// The gate of what may be stored.
  package var gate: Gate

  package init(
    time: Timestamp,
    observers: [ObserverStatus],
    tags: [TagStanding],
    site: Site,
    states: StateCache,
    gate: Gate
  ) {
    self.time = time
    self.observers = observers
    self.tags = tags
    self.site = site
    self.states = states
    self.gate = gate
  }
}

/// Makes the summaries of a minute: what holds at its end.
///
/// Of people without an authorisation nothing is stored.
package struct HistorySampler: Sendable {
  /// Returns tracks, which tell the nearest counterpart of a subject that no ranging and no zone tells.
  package typealias Tracks = (TrackQuery) async throws -> [TrackInsight]

  /// The age above which a hearing or a fix no longer belongs to the minute.
  private static let recent = TimeSpan.seconds(60)

  /// The adverts of each observer at the last sample; nil before the first.
  private var adverts: [ObserverID: UInt64]?

  package init() {}

  /// Makes the summaries of a minute.
  ///
  /// - Parameters:
  ///   - minute: the minute.
  ///   - state: the state at its end.
  ///   - tracks: returns tracks.
  /// - Returns: the summaries.
  /// - Throws: the error of `tracks`.
  package mutating func sample(
    _ minute: HistoryMinute,
    of state: HistoryState,
    tracks: Tracks
  ) async throws -> HistorySample {
    var sample = HistorySample(minute: minute)
    for observer in state.observers where state.gate.shows(.observer(observer.id)) {
      // Before the first sample nothing tells how many of the adverts are of this minute.
      let reported =
        adverts.map { observer.adverts - min(observer.adverts, $0[observer.id] ?? 0) }
        ?? UInt64(max(0, observer.advertsPerSecond * 60))
      sample.observers[observer.id] = ObserverMinute(
        adverts: UInt32(clamping: reported),
        isUp: observer.isUp
      )
    }
    adverts = Dictionary(state.observers.map { ($0.id, $0.adverts) }, uniquingKeysWith: { $1 })
    HistorySampler.addZones(of: state, to: &sample)
    for application in state.site.applications {
      try await HistorySampler.addRegions(of: application, state, to: &sample, tracks)
    }
    HistorySampler.addFixes(of: state, to: &sample)
    for (subject, summary) in sample.subjects where !state.gate.shows(summary.nearest) {
      sample.subjects[subject]?.nearest = .none
    }
    return sample
  }

  private static func addZones(of state: HistoryState, to sample: inout HistorySample) {
    let tags = state.tags.filter { state.gate.shows(.beacon($0.beacon)) }
    let occupants = Dictionary(grouping: tags.filter { $0.zone != nil }) { $0.zone ?? "" }
    let down = Set(state.observers.filter { !$0.isUp }.map(\.id))
    for zone in state.site.zones {
      let own = occupants[zone.identifier] ?? []
      let unmonitored = own.count { $0.zoneState == .unmonitored }
      let isUnknown = unmonitored > 0 || !zone.observers.isEmpty && down.isSuperset(of: zone.observers)
      sample.places[.zone(zone.identifier)] = PlaceMinute(
        inside: isUnknown ? nil : UInt16(clamping: own.count),
        unmonitored: UInt16(clamping: unmonitored)
      )
    }
    for tag in tags {
      let subject = SubjectID.beacon(tag.beacon)
      let loudest = tag.hearings.first { !$0.isDown && state.time - $0.lastHeard <= recent }
      guard tag.zone != nil || loudest != nil else { continue }
      sample.subjects[subject] = SubjectMinute(
        zone: tag.zone,
        isZoneUnmonitored: tag.zoneState == .unmonitored,
        nearest: loudest.map { .observer($0.observer) } ?? .none,
        rssi: loudest.map { Int($0.level.rounded()) }
      )
    }
  }

  private static func addRegions(
    of application: Application,
    _ state: HistoryState,
    to sample: inout HistorySample,
    _ tracks: Tracks
  ) async throws {
    let name = application.identifier
    let constraints = Dictionary(
      application.regions.compactMap { region in region.constraint.map { (region.identifier, $0) } },
      uniquingKeysWith: { $1 }
    )
    let identifiers = Set(application.regions.map(\.identifier))
    let rows = state.states.rows(of: name) { identifiers.contains($0.region) && $0.state != .unknown }
      .compactMap { state.gate.passed($0) }.sorted()
    for region in identifiers {
      let own = rows.filter { $0.region == region }
      let inside = own.count { $0.state == .inside }
      let unmonitored = own.count { $0.state == .unmonitored }
      sample.places[HistoryPlace(application: name, identifier: region)] = PlaceMinute(
        inside: inside == 0 && unmonitored > 0 ? nil : UInt16(clamping: inside),
        unmonitored: UInt16(clamping: unmonitored)
      )
    }
    let nearness = try await Nearness(
      rows: rows.filter { $0.state == .inside && sample.subjects[$0.subject]?.rssi == nil },
      readings: state.states.readings(of: name, through: state.gate),
      constraints: constraints,
      tracks: tracks
    )
    for row in rows {
      // One that is outside and not heard is skipped; its row stays for long.
      guard row.state != .outside || sample.subjects[row.subject] != nil else { continue }
      var summary = sample.subjects[row.subject] ?? SubjectMinute()
      if rank(row.state) > rank(summary.state) { summary.state = row.state }
      if summary.rssi == nil, let nearest = nearness.nearest(row) {
        summary.nearest =
          row.subject == .observer(nearest.observer) ? .beacon(nearest.beacon) : .observer(nearest.observer)
        summary.rssi = Int(nearest.rssi.rounded())
      }
      sample.subjects[row.subject] = summary
    }
  }

  private static func addFixes(of state: HistoryState, to sample: inout HistorySample) {
    for event in state.states.fixes where state.time - event.time <= recent && state.gate.shows(event.subject)
    {
      guard case .fix(let fix) = event.detail, let latitude = fix.latitude, let longitude = fix.longitude
      else { continue }
      sample.subjects[event.subject, default: SubjectMinute()].position = SubjectMinute.Position(
        venue: fix.venue,
        building: fix.building,
        level: fix.isIndoors ? fix.level : 0,
        latitude: latitude,
        longitude: longitude,
        accuracy: fix.horizontalAccuracy
      )
    }
  }

  /// The order in which the states towards several regions count.
  private static func rank(_ state: RegionState) -> Int {
    switch state {
    case .unknown: 0
    case .outside: 1
    case .unmonitored: 2
    case .inside: 3
    }
  }
}

/// Stores the summaries of minutes from what the interface of a server serves.
package struct HistoryRecorder: Sendable {
  private let backend: any HTTPBackend
  private var sampler = HistorySampler()

  /// Makes a recorder of a server.
  package init(backend: any HTTPBackend) { self.backend = backend }

  /// Makes the summaries of the present state and stores them.
  ///
  /// - Parameter minute: the minute that they are for.
  /// - Throws: an error if the server has stopped, or the journal refuses the summaries.
  package mutating func record(_ minute: HistoryMinute) async throws {
    let snapshot = try await backend.server.snapshot()
    let states = backend.states
    let state = HistoryState(
      time: snapshot.time,
      observers: snapshot.observers,
      tags: try await backend.server.tags(),
      site: backend.owner.site,
      states: try await states.read { copy $0 },
      gate: backend.commitPublisher.gate(for: .local)
    )
    let sample = try await sampler.sample(minute, of: state) { [backend] in
      try await backend.server.tracks($0)
    }
    try await BackgroundExecutor.requests.run { [journal = backend.journal] in try journal.record(sample) }
  }
}

/// Stores the summaries of every minute, soon after its end; at a graceful shutdown those of the running minute too.
package struct HistoryService: Service {
  private let backend: any HTTPBackend
  private let logger: Logger

  /// Makes a service of a server.
  package init(backend: any HTTPBackend, logger: Logger) {
    self.backend = backend
    self.logger = logger
  }

  package func run() async throws {
    // The wait is cut short at a shutdown; the server still answers then, since it ends after this service.
    var recorder = LoggedRecorder(recorder: HistoryRecorder(backend: backend), logger: logger)
    while let minute = await nextMinute() { await recorder.record(minute) }
    guard !Task.isCancelled, let now = try? await backend.server.snapshot().time else { return }
    await recorder.record(HistoryMinute(containing: now))
  }

  /// Waits for the end of the running minute of the engine's time.
  ///
  /// - Returns: the minute that has ended, or nil if the service is to end.
  private func nextMinute() async -> HistoryMinute? {
    await cancelWhenGracefulShutdown {
      var watch = MinuteWatch()
      while let now = try? await backend.server.snapshot().time {
        switch watch.look(at: now) {
        case .ended(let minute): return minute
        case .wait(let rest):
          guard (try? await Task.sleep(for: .nanoseconds(rest.nanoseconds))) != nil else { return nil }
        }
      }
      return nil
    }
  }

  /// A recorder that logs a failure once, until it works again.
  private struct LoggedRecorder {
    var recorder: HistoryRecorder
    let logger: Logger
    var isFailing = false

    mutating func record(_ minute: HistoryMinute) async {
      do {
        try await recorder.record(minute)
        isFailing = false
      } catch {
        if !isFailing {
          logger.error("Cannot store summaries.", metadata: [LogKey.reason: "\(error)"])
        }
        isFailing = true
      }
    }
  }
}

/// A watch that reports each minute of a clock once it has ended.
///
/// The clock is not the one by which a service sleeps: a sleep may end before the minute does, and the clock may be set.
package struct MinuteWatch {
  /// The result of a look at the clock.
  package enum Look: Hashable, Sendable {
    /// A minute has ended since the first look: the last whole one.
    case ended(HistoryMinute)
    /// The minute of the first look goes on for so long.
    case wait(TimeSpan)
  }

  private var running: HistoryMinute?

  package init() {}

  /// Looks at the clock.
  package mutating func look(at now: Timestamp) -> Look {
    let minute = HistoryMinute(containing: now)
    guard let running, running != minute else {
      running = minute
      return .wait(HistoryMinute(minute.number + 1).start - now)
    }
    return .ended(HistoryMinute(minute.number - 1))
  }
}
