package import Logging
import Pharos
import PharosDelivery
import PharosIngest
package import PharosJournal
package import PharosModel
import PharosMonitoring
import PharosPositioning
import ServiceLifecycle

/// Takes the summaries of a minute from what the interface serves: zones, states, fixes and observers.
///
/// A summary states what holds at the end of the minute. Of people without an authorisation nothing is stored.
package struct HistorySampler: Sendable {
  /// The age above which a hearing or a fix is not of the minute any more.
  private static let recent = TimeSpan.seconds(60)

  private let backend: any HTTPBackend
  /// The adverts of each observer at the last sample; nil before the first.
  private var adverts: [ObserverID: UInt64]?

  /// Makes a sampler of a server.
  package init(backend: any HTTPBackend) { self.backend = backend }

  /// Takes a sample and stores it.
  ///
  /// - Parameter minute: the minute that it is for; nil for the last whole minute of the engine's time.
  /// - Throws: an error if the server has stopped, or the journal refuses the sample.
  package mutating func record(_ minute: HistoryMinute? = nil) async throws {
    let sample = try await sample(minute)
    try await Blocking.run { [journal = backend.journal] in try journal.record(sample) }
  }

  private mutating func sample(_ minute: HistoryMinute?) async throws -> HistorySample {
    let snapshot = try await backend.server.snapshot()
    let time = snapshot.time
    var sample = HistorySample(
      minute: minute ?? HistoryMinute(HistoryMinute(containing: time).number - 1)
    )
    let counts = Dictionary(snapshot.observers.map { ($0.id, $0.adverts) }, uniquingKeysWith: { $1 })
    for observer in snapshot.observers {
      // Before the first sample nothing tells how many of the adverts are of this minute.
      let reported =
        adverts.map { observer.adverts - min(observer.adverts, $0[observer.id] ?? 0) }
        ?? UInt64(max(0, observer.advertsPerSecond * 60))
      sample.observers[observer.id] = ObserverMinute(
        adverts: UInt32(clamping: reported),
        isUp: observer.isUp
      )
    }
    adverts = counts
    let view = backend.authorisations.view
    try await addZones(to: &sample, at: time, view)
    for application in backend.registrar.applications {
      try await addRegions(of: application, to: &sample, view)
    }
    try await addFixes(to: &sample, at: time)
    for (subject, summary) in sample.subjects where !view.allowsHistory(of: summary.nearest) {
      sample.subjects[subject]?.nearest = .none
    }
    return sample
  }

  private func addZones(
    to sample: inout HistorySample,
    at time: Timestamp,
    _ view: AuthorisationView
  ) async throws {
    for zone in backend.registrar.site.zones {
      sample.places[.zone(zone.identifier)] = PlaceMinute(inside: 0, unmonitored: 0)
    }
    for tag in try await backend.server.tags() {
      if let zone = tag.zone {
        let before = sample.places[.zone(zone)]?.inside ?? 0
        sample.places[.zone(zone)] = PlaceMinute(inside: UInt16(clamping: Int(before) + 1), unmonitored: 0)
      }
      let subject = SubjectID.beacon(tag.beacon)
      let loudest = tag.hearings.first { !$0.isDown && time - $0.lastHeard <= HistorySampler.recent }
      guard tag.zone != nil || loudest != nil, view.allowsHistory(of: subject) else { continue }
      sample.subjects[subject] = SubjectMinute(
        zone: tag.zone,
        nearest: loudest.map { .observer($0.observer) } ?? .none,
        rssi: loudest.map { Int($0.level.rounded()) }
      )
    }
  }

  private func addRegions(
    of application: RegisteredApplication,
    to sample: inout HistorySample,
    _ view: AuthorisationView
  ) async throws {
    let name = application.identifier
    let registered = Set(application.regions.map(\.region.identifier))
    let isShown = backend.states.visibility(of: name, to: .local)
    let (rows, readings) = try await backend.states.read { cache in
      let rows = cache.rows(of: name).filter { row in
        registered.contains(row.region) && row.state != .unknown && isShown(row.subject)
      }
      return (rows, cache.readings(of: name))
    }
    for region in registered {
      let own = rows.filter { $0.region == region }
      sample.places[HistoryPlace(application: name, identifier: region)] = PlaceMinute(
        inside: UInt16(clamping: own.count { $0.state == .inside }),
        unmonitored: UInt16(clamping: own.count { $0.state == .unmonitored })
      )
    }
    let unplaced = rows.filter { $0.state == .inside && sample.subjects[$0.subject]?.rssi == nil }
    let nearness = try await Nearness(
      rows: unplaced,
      readings: readings,
      application: application,
      server: backend.server
    )
    for row in rows where view.allowsHistory(of: row.subject) {
      // One that is outside and not heard has nothing to tell; its row stays for long.
      guard row.state != .outside || sample.subjects[row.subject] != nil else { continue }
      var summary = sample.subjects[row.subject] ?? SubjectMinute()
      if HistorySampler.rank(row.state) > HistorySampler.rank(summary.state) { summary.state = row.state }
      if summary.rssi == nil, let nearest = nearness.nearest(row) {
        summary.nearest =
          row.subject == .observer(nearest.observer) ? .beacon(nearest.beacon) : .observer(nearest.observer)
        summary.rssi = Int(nearest.rssi.rounded())
      }
      sample.subjects[row.subject] = summary
    }
  }

  private func addFixes(to sample: inout HistorySample, at time: Timestamp) async throws {
    let isShown = backend.states.visibility(ofFixesTo: .local)
    let fixes = try await backend.states.read { $0.fixes }
    for event in fixes where time - event.time <= HistorySampler.recent && isShown(event) {
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
    var recorder = Recorder(sampler: HistorySampler(backend: backend), logger: logger)
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

  /// A sampler that logs a failure once, until it works again.
  private struct Recorder {
    var sampler: HistorySampler
    let logger: Logger
    var isFailing = false

    mutating func record(_ minute: HistoryMinute) async {
      do {
        try await sampler.record(minute)
        isFailing = false
      } catch {
        if !isFailing {
          logger.error("summaries cannot be stored", metadata: [LogKey.reason: "\(error)"])
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
