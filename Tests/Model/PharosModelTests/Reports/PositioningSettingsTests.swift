import PharosDocuments
import PharosModel
import Testing

@Suite("Positioning in a site")
struct PositioningSettingsTests {
  private static func bytes(_ site: Site) -> [UInt8] {
    var writer = FieldWriter()
    site.write(to: &writer)
    return writer.bytes
  }

  private static func read(_ bytes: [UInt8]) throws -> Site {
    var reader = FieldReader(bytes[...])
    let site = try Site(from: &reader)
    try reader.finish()
    return site
  }

  @Test("a site without venues has the bytes that it had before there were any")
  func plain() throws {
    let bytes = PositioningSettingsTests.bytes(Site(stream: "s", admission: .listed))
    // A text, five empty lists, the exponent 2 and the admission.
    let expected: [UInt8] =
      [0, 0, 0, 1, 0x73] + [UInt8](repeating: 0, count: 20) + [0x40, 0, 0, 0, 0, 0, 0, 0, 1]
    #expect(bytes == expected)
    #expect(try PositioningSettingsTests.read(bytes) == Site(stream: "s", admission: .listed))
  }

  @Test("positioning and venues are read back")
  func roundTrip() throws {
    var site = Site(stream: "s", admission: .listed)
    site.venues = ["venues/museum/", "/srv/mall"]
    #expect(try PositioningSettingsTests.read(PositioningSettingsTests.bytes(site)) == site)
    site.positioning = PositioningSettings(
      interval: .milliseconds(500),
      lag: .zero,
      particles: 50,
      tags: [.address(DeviceAddress(bits: 1, kind: .public))]
    )
    #expect(try PositioningSettingsTests.read(PositioningSettingsTests.bytes(site)) == site)
    site.venues = []
    #expect(try PositioningSettingsTests.read(PositioningSettingsTests.bytes(site)) == site)
    site.positioning.isSimulated = true
    #expect(try PositioningSettingsTests.read(PositioningSettingsTests.bytes(site)) == site)
    site.positioning = PositioningSettings()
    site.positioning.isSimulated = true
    #expect(try PositioningSettingsTests.read(PositioningSettingsTests.bytes(site)) == site)
  }

  @Test(
    "settings that no site may ask for are refused",
    arguments: [
      PositioningSettings(interval: .milliseconds(249)), PositioningSettings(interval: .forever),
      PositioningSettings(lag: .seconds(31)), PositioningSettings(particles: 49),
      PositioningSettings(particles: 2_001),
    ]
  )
  func bounds(settings: PositioningSettings) {
    let bytes = PositioningSettingsTests.bytes(Site(positioning: settings))
    #expect(throws: FieldError.self) { try PositioningSettingsTests.read(bytes) }
  }

  @Test("an admission that announces venues and brings none is refused")
  func empty() {
    var bytes = PositioningSettingsTests.bytes(Site(positioning: PositioningSettings(lag: .zero)))
    // The lag is the second span behind the exponent and the admission.
    let lag = bytes.count - 4 - 4 - 1 - 8
    var writer = FieldWriter()
    PositioningSettings.defaultLag.write(to: &writer)
    bytes.replaceSubrange(lag..<(lag + 8), with: writer.bytes)
    #expect(throws: FieldError.self) { try PositioningSettingsTests.read(bytes) }
  }
}
