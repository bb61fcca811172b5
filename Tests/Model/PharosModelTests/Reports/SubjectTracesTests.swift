import PharosDocuments
import PharosModel
import Testing

@Suite("Everything by which a subject may be known")
struct SubjectTracesTests {
  private let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

  @Test("six octets mean a handset and a tag, and the tag wherever its address is part of a key")
  func octets() throws {
    let traces = try #require(SubjectTraces("AC-23-3F-00-00-01"))
    let address = DeviceAddress(bits: 0xAC23_3F00_0001, kind: .random)
    #expect(traces.contains(ObserverID.eui48(address.bits)))
    #expect(traces.contains(BeaconID.address(address)))
    #expect(traces.contains(try #require(BeaconID("\(uuid)/1/2@ac:23:3f:00:00:01"))))
    #expect(!traces.contains(try #require(BeaconID("\(uuid)/1/2"))))
    #expect(!traces.contains(try #require(BeaconID("\(uuid)/1/2@ac:23:3f:00:00:02"))))
    #expect(!traces.contains(SubjectID.none))
  }

  @Test("a beacon means that beacon alone, an observer that observer alone")
  func single() throws {
    let beacon = try #require(SubjectTraces("\(uuid)/1/2"))
    #expect(beacon.observer == nil)
    #expect(beacon.contains(try #require(BeaconID("\(uuid)/1/2"))))
    #expect(!beacon.contains(try #require(BeaconID("\(uuid)/1/2@ac:23:3f:00:00:01"))))
    let mac = try #require(SubjectTraces("mac:ac:23:3f:00:00:01"))
    #expect(mac.observer == nil)
    let desk = try #require(SubjectTraces("front desk"))
    #expect(desk.beacon == nil)
    #expect(desk.contains(SubjectID.observer(.name("front desk"))))
    #expect(SubjectTraces("") == nil)
    #expect(SubjectTraces(String(repeating: "x", count: 65)) == nil)
  }

  @Test(
    "the text is read back to the same, and so are the bytes of the change that forgets it",
    arguments: ["ac:23:3f:00:00:01", "mac:ac:23:3f:00:00:01", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", "desk"]
  )
  func text(text: String) throws {
    let traces = try #require(SubjectTraces(text))
    #expect(SubjectTraces(traces.description) == traces)
    var writer = FieldWriter()
    RegionChange.forget(traces).write(to: &writer)
    var reader = FieldReader(writer.bytes[...])
    #expect(try RegionChange(from: &reader) == .forget(traces))
    try reader.finish()
  }
}
