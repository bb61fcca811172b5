import CScaleMeter
import PharosFixes
import PharosModel
import PharosPipeline

/// Locates subjects and takes the time and the memory of it.
struct FixMeasurement {
  /// How long traffic lasts.
  static let seconds = 40
  /// How many seconds of that are not timed: until all subjects are located, and all buffers have grown.
  static let warmUp = 25

  /// What one of the two ways to locate took.
  struct Figures {
    /// Fixes in the timed seconds.
    var fixes = 0
    /// CPU time of the timed seconds.
    ///
    /// - Units: nanoseconds.
    var nanoseconds: Int64 = 0
    /// Resident memory that came with the subjects, or nil if it was not looked at.
    var bytes: Int64?
    /// How many subjects there were.
    var subjects = 0

    var nanosecondsAFix: Double { Double(nanoseconds) / Double(max(1, fixes)) }
  }

  private let traffic: FixTraffic
  private let subjects: Int
  private let rules: FusionRules

  init(_ traffic: FixTraffic, subjects: Int, particles: Int?) throws {
    self.traffic = traffic
    self.subjects = subjects
    var rules = traffic.ground.rules
    if let particles { rules.particles = particles }
    self.rules = rules
  }

  /// The locators of so many subjects, one after the other in each period, as stage two has them.
  func locatorAlone() -> Figures {
    let sensings = (0..<FixTraffic.ways).map(traffic.sensings)
    var locators = (0..<subjects).map { Locator(ground: traffic.ground, rules: rules, seed: UInt64($0)) }
    var figures = Figures(subjects: subjects)
    for period in 0..<FixMeasurement.seconds * 2 {
      let isTimed = period >= FixMeasurement.warmUp * 2
      let now = traffic.start + TimeSpan(nanoseconds: FixTraffic.period.nanoseconds * Int64(period + 1))
      let start = scale_thread_nanoseconds()
      var fixes = 0
      for subject in locators.indices {
        for sensing in sensings[subject % FixTraffic.ways][period] { locators[subject].receive(sensing) }
        locators[subject].advance(to: now)
        while locators[subject].nextFix() != nil { fixes += 1 }
      }
      guard isTimed else { continue }
      figures.nanoseconds += scale_thread_nanoseconds() - start
      figures.fixes += fixes
    }
    return figures
  }

  /// The same traffic as reports through both stages.
  func pipeline() throws -> Figures {
    let site = Site(positioning: PositioningSettings(particles: rules.particles))
    var pipeline = try Pipeline(site: site, venues: [traffic.ground])
    var figures = Figures(subjects: subjects)
    let before = scale_resident_bytes()
    for period in 0..<FixMeasurement.seconds * 2 {
      let isTimed = period >= FixMeasurement.warmUp * 2
      for subject in 0..<subjects {
        let batch = traffic.batch(of: subject, period: period)
        let start = scale_thread_nanoseconds()
        let events = pipeline.ingest(batch)
        guard isTimed else { continue }
        figures.nanoseconds += scale_thread_nanoseconds() - start
        figures.fixes += events.count { $0.kind == .fix }
      }
    }
    figures.bytes = scale_resident_bytes() - before
    // Whatever the subjects hold must still be there when it is measured.
    withExtendedLifetime(pipeline) {}
    return figures
  }
}
