import PharosDocuments
import PharosModel
import Testing

@Suite("Geofences and their evidence in bytes")
struct GeofenceEvidenceTests {
  @Test(
    "a transition with the position that it was decided from comes back from a record and from a checkpoint"
  )
  func evidence() throws {
    for rule in [Evidence.Rule.position, .crossing, .nested, .positionLost] {
      var evidence = Evidence(rule: rule)
      evidence.window = .seconds(1)
      evidence.geofence = GeofenceBasis(
        probability: 0.9312,
        edgeDistance: -3.25,
        accuracy: 4.5,
        dwell: .milliseconds(1_250),
        fixes: 3
      )
      let event = Event(
        stream: "s",
        kind: .regionEnter,
        time: Timestamp(seconds: 1_000),
        decidedAt: Timestamp(seconds: 1_001),
        stage: 2,
        subject: .observer(.name("ann")),
        application: "a",
        region: "yard",
        counter: 7,
        detail: .region(RegionTransition(from: .outside, to: .inside, evidence: evidence))
      )
      #expect(try EventRecord(event).event().detail == event.detail)
      #expect(event.cloudEvent(stream: "s").contains(#""probability":0.9312"#))
      var writer = FieldWriter()
      evidence.write(to: &writer)
      var reader = FieldReader(writer.bytes[...])
      #expect(try Evidence(from: &reader) == evidence)
    }
  }

  @Test("areas come back, and outlines that enclose no area are refused")
  func areas() throws {
    let corners = [(11.0, 48.0), (11.1, 48), (11.1, 48.1), (11, 48.1)].map {
      Geofence.Position(latitude: $0.1, longitude: $0.0)
    }
    let shapes: [Geofence.Shape] = [
      .circle(center: corners[0], radius: Meters(20)), .polygon(rings: [corners]),
    ]
    for shape in shapes {
      let region = Region(identifier: "yard", geofence: Geofence(shape: shape, level: 2, building: "east"))
      var writer = FieldWriter()
      region.write(to: &writer)
      var reader = FieldReader(writer.bytes[...])
      #expect(try Region(from: &reader) == region)
    }
    let crossed = Geofence(shape: .polygon(rings: [[corners[0], corners[2], corners[1], corners[3]]]))
    #expect(crossed.problem == .crossing(ring: 0, edge: 0, otherRing: 0, otherEdge: 2))
    var writer = FieldWriter()
    crossed.write(to: &writer)
    var reader = FieldReader(writer.bytes[...])
    #expect(throws: FieldError.self) { try Geofence(from: &reader) }
    #expect(Geofence(shape: .circle(center: corners[0], radius: Meters(0))).problem == .radius(Meters(0)))
    #expect(
      Geofence(shape: .polygon(rings: [Array(corners[..<2])])).problem == .tooFewCorners(ring: 0, count: 2)
    )
  }
}
