import Foundation
import PharosConsoleSupport
import PharosFixes
import PharosLab
import PharosModel
import PharosPipeline
import PharosSpace
import PharosTerminal
import PharosTestSupport
import Testing

@Suite("Learning from walks and locating by them")
struct SurveyLocateTests {
  private let house: SurveyedHouse
  private static let walk = SurveyFixtures.walk(seed: 77, start: 1_574_560_000_000)

  init() throws { house = try SurveyedHouse.shared.get() }

  @Test("learning tells what was covered and what was left out, and draws it")
  func learning() throws {
    #expect(house.said.contains("house/0 "))
    #expect(house.said.contains("12 access points"))
    #expect(house.said.contains("1 trace left out"))
    #expect(house.said.contains("no floor called \"F7\""))
    let page = try house.coverage()
    let floor = try #require(page.titles.firstIndex(of: "Floor house/0"))
    #expect(page.figures(floor).hasPrefix("4 walks, "))
    #expect(["walked once", "2 or 3 times"].contains { !page.values(floor, $0).isEmpty })
    #expect(house.ground.radio.floors.contains { $0.building == "house" && $0.level == 0 })
  }

  @Test("a walk is located on its floor, within a few metres, in the table's own units")
  func locating() async throws {
    let folder = try TemporaryFolder()
    try SurveyFixtures.write(Self.walk.utf8, to: "test/house/F1/walk.txt", in: folder)
    let kept = KeptConsole()
    let options = SurveyLocateRunner.Options(
      traces: [folder.path("test")],
      venue: house.venue,
      output: folder.path("fixes.csv")
    )
    let status = await SurveyLocateRunner(options).run(on: kept.console)
    #expect(status == .success, "\(kept.errors.text)")
    var score = SurveyScoreRunner.Options(fixes: folder.path("fixes.csv"), traces: [folder.path("test")])
    score.venue = house.venue
    score.tracks = folder.path("tracks")
    score.format = .json
    #expect(SurveyScoreRunner(score).run(on: kept.console) == .success)
    let read = try JSONSerialization.jsonObject(with: Data(kept.output.text.utf8)) as? [String: Any]
    let all = try #require((read?["groups"] as? [[String: Any]])?.first)
    // The first waypoint may lie before the first fix.
    #expect(all["waypoints"] as? Int == 5)
    #expect((all["scored"] as? Int ?? 0) >= 4)
    #expect(all["floor"] as? Double == 1)
    let mean = try #require(all["mean"] as? Double)
    #expect(mean < 6, "places of the house at random are 15 m off")
    let page = try PageData(try folder.bytes("tracks/index.html"))
    #expect(page.titles == ["Errors on floor house/0", "walk on floor house/0"])
    #expect(page.legend(1).contains("from truth to fix"))
    #expect(page.values(1, "truth").first?.count == 10)
  }

  @Test("the truth in a trace changes no fix, and the same trace gives the same fixes")
  func blind() throws {
    let fixes = try house.located(Self.walk.utf8).rows
    let blind = Self.walk.split(separator: "\n").filter { !$0.contains("WAYPOINT") && !$0.hasPrefix("#") }
    #expect(fixes.count > 200)
    #expect(try house.located((blind.joined(separator: "\n") + "\n").utf8).rows == fixes)
    let moved = Self.walk.replacing("FloorName:F1", with: "FloorName:B1").replacing(
      "\t33.0\t",
      with: "\t-9\t"
    )
    #expect(try house.located(moved.utf8).rows == fixes)
  }

  @Test("a trace cut at any point has the same fixes before the cut", arguments: [3, 17, 41, 66, 83, 99])
  func causality(percent: Int) throws {
    let bytes = Array(Self.walk.utf8)
    let whole = try house.located(bytes).rows
    let cut = try house.located(bytes.prefix(bytes.count * percent / 100))
    let end = try #require(cut.end)
    // What is younger than the lag was still waiting for late lines, which the cut has taken away.
    let finished = cut.rows.prefix { $0.time <= end - SurveyedHouse.lag }
    #expect(whole.starts(with: finished))
    #expect(percent < 10 || finished.count > percent)
    #expect(cut.rows.allSatisfy { $0.time <= end })
  }

  @Test("fixes come no nearer than the interval, and in order")
  func interval() throws {
    let fixes = try house.located(Self.walk.utf8).rows
    for (one, next) in zip(fixes, fixes.dropFirst()) { #expect(next.time - one.time >= .milliseconds(250)) }
    #expect(fixes.allSatisfy { ($0.accuracy ?? 0) > 0 })
  }

  @Test("the capture of a trace gives the very fixes of the trace")
  func capture() throws {
    let folder = try TemporaryFolder()
    try SurveyFixtures.write(Self.walk.utf8, to: "walk.txt", in: folder)
    let sink = MemorySink()
    let importer = SurveyImportRunner(traces: [folder.path("walk.txt")])
    #expect(importer.run(capture: sink, console: KeptConsole().console) == .success)

    var pipeline = try Pipeline(site: SurveyedHouse.site, venues: [house.ground])
    var feed = CaptureFeed(observer: .name("unused"))
    feed.append(sink.bytes)
    var found = LocatedTrace("walk")
    while let input = try feed.next() { found.record(pipeline.process(input)) }
    try feed.finish()
    while let input = try feed.next() { found.record(pipeline.process(input)) }
    found.end = feed.latestTime
    found.record(pipeline.finish(tail: SurveyedHouse.lag))
    #expect(found.rows == (try house.located(Self.walk.utf8).rows))
  }

  @Test("options leave out scans by their distance in time, beacons and motion")
  func thinning() throws {
    func kept(_ thinning: TraceThinning) -> (scans: Set<Timestamp>, adverts: Int, motion: Int) {
      let folder = try? TemporaryFolder()
      guard let folder, let path = try? folder.write(Self.walk, to: "walk.txt"),
        let stream = try? TraceStream(TraceFile(path: path))
      else { return ([], 0, 0) }
      var thinner = TraceThinner(thinning)
      var (scans, adverts, motion) = (Set<Timestamp>(), 0, 0)
      while let batch = stream.next() {
        let left = thinner.thinned(batch)
        motion += left.motionSamples.count
        for report in left.reports {
          if case .advert = report.body { adverts += 1 }
          if case .wifiScan = report.body, case .age(let age) = report.timing {
            scans.insert(report.received - age)
          }
        }
      }
      return (scans, adverts, motion)
    }
    let all = kept(TraceThinning())
    let thin = kept(TraceThinning(wifiEvery: .seconds(30), hearsBeacons: false))
    let none = kept(TraceThinning(wifiEvery: .forever, sensesMotion: false))
    #expect(all.scans.count > 25 && all.adverts > 100 && all.motion > 10_000)
    #expect(thin.scans.count == 3 && thin.adverts == 0 && thin.motion == all.motion)
    #expect(none.scans.isEmpty && none.adverts == all.adverts && none.motion == 0)
    let times = thin.scans.sorted()
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= .seconds(30) })
  }

  @Test("for a venue without a survey the error states what to do")
  func ignorant() async throws {
    let folder = try TemporaryFolder()
    try SurveyFixtures.writeFloors(in: folder)
    try SurveyFixtures.write(Self.walk.utf8, to: "walk.txt", in: folder)
    let kept = KeptConsole()
    _ = SurveyInitRunner(floors: folder.path("floors"), output: folder.path("venue")).run(on: kept.console)
    func locate() async -> CommandStatus {
      let options = SurveyLocateRunner.Options(
        traces: [folder.path("walk.txt")],
        venue: folder.path("venue"),
        output: folder.path("fixes.csv")
      )
      return await SurveyLocateRunner(options).run(on: kept.console)
    }
    #expect(await locate() == .configuration)
    #expect(kept.errors.text.contains("has no radio-map.pharos and lists no beacon or access point"))
    try SurveyFixtures.write([1, 2, 3], to: "venue/radio-map.pharos", in: folder)
    #expect(await locate() == .configuration)
    #expect(kept.errors.text.contains("Create it again with `pharos survey learn`"))
    // A map that is too large to be read again is not written.
    #expect(SurveyLearnRunner.refusal(ofMapWith: VenueFiles.largest) == nil)
    #expect(
      SurveyLearnRunner.refusal(ofMapWith: VenueFiles.largest + 1)?
        .hasPrefix(
          "the radio map would have 65 MiB, and no command reads more than 64 MiB. Make a venue of each"
        )
        == true
    )
    let learn = SurveyLearnRunner(traces: [folder.path("walk.txt")], venue: folder.path("nowhere"))
    #expect(learn.run(on: kept.console) == .configuration)
  }
}
