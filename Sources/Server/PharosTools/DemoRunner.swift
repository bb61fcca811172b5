import PharosLab
import PharosModel
import PharosPipeline
package import PharosService
import PharosSimulation
import PharosSite

/// `pharos demo`: plays the scripted day in a mall offline, writes its events and draws it.
package struct DemoRunner: Sendable {
  private let picture: String?
  private let selection: KindSelection
  private let format: EventFormat

  /// The seed of the day; every run shows the same one.
  private static let seed: UInt64 = 1

  /// Makes a runner.
  ///
  /// - Parameters:
  ///   - picture: the path of the page with the map, or nil for none.
  ///   - selection: the kinds of events that are written.
  ///   - format: the format of the events.
  package init(picture: String?, selection: KindSelection, format: EventFormat) {
    self.picture = picture
    self.selection = selection
    self.format = format
  }

  /// Plays the day.
  ///
  /// - Returns: 0; 1 if something cannot be written.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      let scene = MallDay.scene()
      let site = try SiteFile.parse(MallDay.siteYAML, path: "demo").site
      let venues = LoadedVenues(built: [scene.venue])
      var pipeline = try Pipeline(site: site, venues: venues.locatable)
      var writer = EventWriter(format: format, selection: selection, site: site, style: console.outputStyle)
      var map = MapPicture(scene.venue, title: "A day in the mall", site: site)
      func take(_ events: [Event]) throws {
        try writer.write(events, to: console.output)
        map.add(events)
      }
      var changes = MallDay.changes[...]
      for item in try IndoorSimulation(scene, seed: DemoRunner.seed) {
        guard case .datagram(let datagram) = item else { continue }
        while let next = changes.first, scene.start + next.time <= datagram.received {
          try take(pipeline.apply(next.change, at: scene.start + next.time))
          changes.removeFirst()
        }
        try take(pipeline.ingest(datagram.reports))
      }
      try take(pipeline.finish(tail: nil))
      try console.output.flush()
      if let picture {
        try FileOutput.write(map.html.utf8, to: picture)
        console.say("\(picture): the floors with every decision.")
      }
      return .success
    }
  }
}
