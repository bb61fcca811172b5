package import PharosPlaces
package import PharosReports

/// What happens somewhere: who is there, what transmits, who hears it, what stands in the way, what goes wrong.
///
/// A scene says nothing by chance; together with a seed it becomes a ``Simulation``.
package struct Scene: Hashable, Sendable {
  /// A piece of the floor whose comings and goings belong to the truth.
  package struct Area: Hashable, Sendable {
    /// Its name in the truth.
    package var name: String
    /// What belongs to it.
    package var shape: Polygon

    /// Makes an area.
    package init(name: String, shape: Polygon) {
      self.name = name
      self.shape = shape
    }
  }

  /// A name of one word, as on a command line.
  package var name: String
  /// What happens, in a sentence.
  package var summary: String
  /// When it begins.
  package var start: Timestamp
  /// How long it lasts; for ever if that is asked for, since memory does not grow with time.
  package var duration: TimeSpan
  /// What radio passes through.
  package var walls: Walls
  /// The areas that the truth tells about.
  package var areas: [Area]
  /// What advertises, each name once.
  package var transmitters: [Transmitter]
  /// Who listens, each identity once.
  package var observers: [Observer]
  /// How radio spreads.
  package var radio: Radio
  /// What a site would declare to make something of it.
  package var site: Site
  /// The same site as a commented `site.yaml`; empty if there is none.
  package var siteYAML: String

  /// 2026-01-01 09:00:00 UTC: when scenes begin unless they say otherwise.
  package static let defaultStart = Timestamp(seconds: 1_767_258_000)

  /// Makes a scene.
  package init(
    name: String,
    summary: String = "",
    start: Timestamp = Scene.defaultStart,
    duration: TimeSpan,
    walls: Walls = [],
    areas: [Area] = [],
    transmitters: [Transmitter],
    observers: [Observer],
    radio: Radio = Radio(),
    site: Site = Site(),
    siteYAML: String = ""
  ) {
    self.name = name
    self.summary = summary
    self.start = start
    self.duration = duration
    self.walls = walls
    self.areas = areas
    self.transmitters = transmitters
    self.observers = observers
    self.radio = radio
    self.site = site
    self.siteYAML = siteYAML
  }

  /// The scenes that Pharos brings along.
  package static var builtIn: [Scene] { [.museumVisit, .gatewayOutage, .noisyDoorway, .busyHall, .demo] }

  /// The scene of that name among those that Pharos brings along, or nil.
  package static func builtIn(named name: String) -> Scene? { builtIn.first { $0.name == name } }

  /// The level that is expected of a transmitter at an observer: distance and walls, nothing by chance.
  ///
  /// - Units: dBm.
  package func expectedLevel(of transmitter: Transmitter, at observer: Observer, time: TimeSpan) -> Double {
    let from = transmitter.path.position(at: time)
    let to = observer.path.position(at: time)
    return transmitter.power + observer.gain - radio.pathLoss(distance: from.distance(to: to))
      - walls.attenuation(between: from, and: to)
  }
}

/// From one time of a scene until another, the end left out.
package struct TimeWindow: Hashable, Sendable {
  /// When it begins, counted from the scene's begin.
  package var from: TimeSpan
  /// When it ends, counted from the scene's begin.
  package var until: TimeSpan

  /// Makes a window.
  package init(from: TimeSpan = .zero, until: TimeSpan = .forever) {
    self.from = from
    self.until = until
  }

  /// The whole scene.
  package static let always = TimeWindow()

  /// Whether a time lies in it.
  package func contains(_ time: TimeSpan) -> Bool { from <= time && time < until }
}
