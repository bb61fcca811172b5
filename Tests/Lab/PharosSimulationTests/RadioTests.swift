import PharosModel
import PharosSimulation
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Radio")
struct RadioTests {
  @Test(
    "level falls by ten times the exponent for each tenfold distance",
    arguments: [(1.0, 0.0), (10, 22), (100, 44), (0.1, -22), (0.001, -22)]
  )
  func pathLoss(distance: Double, loss: Double) {
    let radio = Radio(pathLossExponent: 2.2)
    #expect(abs(radio.pathLoss(distance: distance) - loss) < 1e-9)
    #expect(abs(radio.distance(pathLoss: loss) - max(0.1, distance)) < 1e-9)
  }

  @Test("reception is even at the sensitivity and soft around it")
  func receptionChance() {
    let radio = Radio(softness: 2)
    #expect(radio.receptionChance(level: -90, sensitivity: -90) == 0.5)
    #expect(abs(radio.receptionChance(level: -88, sensitivity: -90) - 0.731) < 0.001)
    #expect(radio.receptionChance(level: -70, sensitivity: -90) > 0.999)
    #expect(Radio.ideal.receptionChance(level: -90, sensitivity: -90) == 1)
    #expect(Radio.ideal.receptionChance(level: -90.1, sensitivity: -90) == 0)
  }

  @Test(
    "without chance every advert within range arrives with the level of its distance",
    arguments: [1.0, 3, 10]
  )
  func ideal(distance: Double) throws {
    let transmitter = Bench.transmitter(at: Path(at: Point(x: distance, y: 0)))
    let playback = Playback(Bench.scene(seconds: 60, transmitters: [transmitter]))
    let level = (-59 - Radio.ideal.pathLoss(distance: distance)).rounded()
    #expect(abs(playback.sightings.count - 571) <= 5)
    #expect(playback.sightings.allSatisfy { $0.level == level && $0.age == .zero })
  }

  @Test("without chance nothing arrives from out of range or from behind thick walls")
  func outOfRange() throws {
    let far = Bench.transmitter(1, at: Path(at: Point(x: 60, y: 0)))
    let behind = Bench.transmitter(2, at: Path(at: Point(x: 0, y: 5)))
    var scene = Bench.scene(seconds: 20, transmitters: [far, behind])
    scene.walls = [Wall(from: Point(x: -9, y: 2), to: Point(x: 9, y: 2), attenuation: 40)]
    #expect(Playback(scene).sightings.isEmpty)
  }

  @Test("mean levels follow the distance under all chance", arguments: [1.0, 2, 4, 8])
  func meanLevel(distance: Double) throws {
    // Many links at one distance, since shadows hold for long on each.
    let transmitters = (1...60).map {
      Bench.transmitter(UInt64($0), at: Path(at: Point(x: distance, y: 0)), interval: .seconds(1))
    }
    let radio = Radio(pathLossExponent: 2.4, riceFactor: 1_000)
    let scene = Bench.scene(seconds: 60, radio: radio, transmitters: transmitters)
    let levels = Playback(scene).sightings.map(\.level)
    #expect(abs(levels.mean - (-59 - radio.pathLoss(distance: distance))) < 1.2)
    #expect(levels.deviation > 2.2)
    #expect(levels.deviation < 4.6)
  }

  @Test("fades dip deeper than they peak", arguments: [0.0, 1, 6])
  func lopsidedFades(riceFactor: Double) throws {
    let radio = Radio(
      pathLossExponent: 2,
      shadowing: nil,
      riceFactor: riceFactor,
      channelDeviation: 0,
      softness: 0
    )
    var observer = Bench.observer()
    observer.sensitivity = -120
    let playback = Playback(Bench.scene(seconds: 400, radio: radio, observers: [observer]))
    let levels = playback.sightings.map(\.level)
    #expect(levels.skewness < -0.4)
    let median = levels.sorted()[levels.count / 2]
    #expect(median - (levels.min() ?? median) > 1.5 * ((levels.max() ?? median) - median))
  }

  @Test("a fading channel keeps the mean power")
  func meanPower() throws {
    let radio = Radio(pathLossExponent: 2, shadowing: nil, riceFactor: 2, channelDeviation: 0, softness: 0)
    var observer = Bench.observer()
    observer.sensitivity = -125
    let playback = Playback(Bench.scene(seconds: 400, radio: radio, observers: [observer]))
    let power = playback.sightings.map { RadioMath.powerOfTen($0.level / 10) }.mean
    let expected = -59 - radio.pathLoss(distance: 3)
    #expect(abs(RadioMath.decibels(power * 1e9) - 90 - expected) < 0.3)
  }

  @Test(
    "at the sensitivity half of the adverts arrive, a softness above it 73 of 100",
    arguments: [(0.0, 0.5), (2, 0.731), (-2, 0.269)]
  )
  func receptionShare(margin: Double, share: Double) throws {
    let radio = Radio(pathLossExponent: 2, shadowing: nil, riceFactor: nil, channelDeviation: 0, softness: 2)
    var observer = Bench.observer()
    observer.sensitivity = -59 - radio.pathLoss(distance: 3) - margin
    let playback = Playback(Bench.scene(seconds: 420, radio: radio, observers: [observer]))
    #expect(abs(Double(playback.sightings.count) / 4_000 - share) < 0.03)
  }

  @Test("shadows change with movement and hold while all rest")
  func shadowing() throws {
    let radio = Radio(
      pathLossExponent: 0.001,
      shadowing: Radio.Shadowing(deviation: 5, distance: 2, time: .minutes(600)),
      riceFactor: nil,
      channelDeviation: 0,
      softness: 0
    )
    let walk = Path(
      from: Path.Stop(Point(x: -400, y: 0)),
      through: [Path.Stop(Point(x: 400, y: 0))],
      speed: 2
    )
    let scene = Bench.scene(
      seconds: 400,
      radio: radio,
      transmitters: [Bench.transmitter(1, at: walk), Bench.transmitter(2)]
    )
    let playback = Playback(scene)
    let walking = playback.sightings.filter { $0.address == scene.transmitters[0].address }.map(\.level)
    let resting = playback.sightings.filter { $0.address == scene.transmitters[1].address }.map(\.level)
    #expect(abs(walking.deviation - 5) < 1)
    #expect(resting.deviation < 1.5)
    // 0.21 m from one advert to the next: neighbours are alike, those 10 m apart are not.
    #expect(correlation(walking, lag: 1) > 0.8)
    #expect(correlation(walking, lag: 48).magnitude < 0.25)
  }

  private func correlation(_ values: [Double], lag: Int) -> Double {
    let mean = values.mean
    let pairs = zip(values, values.dropFirst(lag)).map { ($0 - mean) * ($1 - mean) }
    return pairs.mean / (values.deviation * values.deviation)
  }

  @Test("losses come in bursts")
  func burstLoss() throws {
    var radio = Radio.ideal
    radio.burstLoss = Radio.BurstLoss(share: 0.25, duration: .seconds(2), loss: 1)
    let times = Playback(Bench.scene(seconds: 900, radio: radio)).sightings.map(\.heard)
    let share = Double(times.count) / (900 / 0.105)
    #expect(abs(share - 0.75) < 0.06)
    // Independent losses of a quarter would leave a gap of a second, nine adverts in a row, once in 260,000.
    let gaps = zip(times, times.dropFirst()).map { $1 - $0 }.filter { $0 > 1 }
    #expect(gaps.count > 40)
  }

  @Test("people in the way take what a body takes for a share of the time")
  func passersby() throws {
    var radio = Radio.ideal
    radio.passersby = Radio.Passersby(share: 0.3, duration: .seconds(3), attenuation: 12)
    let levels = Playback(Bench.scene(seconds: 900, radio: radio)).sightings.map(\.level)
    #expect(Set(levels).count == 2)
    let blocked = levels.count { $0 < -75 }
    #expect(abs(Double(blocked) / Double(levels.count) - 0.3) < 0.07)
  }

  @Test("a carrier's body takes level behind, none in front, half at the side")
  func bodyLoss() throws {
    // Walks away from the observer, then back to it.
    var transmitter = Bench.transmitter(
      at: Path(
        from: Path.Stop(Point(x: 2, y: 0)),
        through: [Path.Stop(Point(x: 12, y: 0)), Path.Stop(Point(x: 2, y: 0), dwell: .seconds(5))],
        speed: 1
      )
    )
    transmitter.bodyLoss = 10
    let playback = Playback(Bench.scene(seconds: 20, transmitters: [transmitter]))
    for sighting in playback.sightings {
      let x = transmitter.path.position(at: .seconds(sighting.heard)).x
      let expected = -59 - Radio.ideal.pathLoss(distance: x) - (sighting.heard < 10 ? 10 : 0)
      #expect(abs(sighting.level - expected) <= 0.6, "at \(sighting.heard) s")
    }
  }
}
