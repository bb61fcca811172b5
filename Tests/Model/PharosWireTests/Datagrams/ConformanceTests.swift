import FuzzWire
import PharosModel
import PharosWire
import Testing

@Suite("What every format promises")
struct ConformanceTests {
  @Test("raddec keeps the promises of a format")
  func raddec() { check(FormatConformance<RaddecFormat>(samples: Samples.raddec)) }

  @Test("the Pharos datagram keeps the promises of a format")
  func pharos() { check(FormatConformance<PharosFormat>(samples: Samples.pharos)) }

  @Test("JSON keeps the promises of a format")
  func json() {
    check(FormatConformance<JSONFormat>(samples: Samples.json + Samples.ruuvi + Samples.vendorJSON))
  }

  @Test("Ingics text keeps the promises of a format")
  func ingics() { check(FormatConformance<IngicsFormat>(samples: Samples.ingics)) }

  @Test("Huawei's datagram keeps the promises of a format")
  func huawei() { check(FormatConformance<HuaweiFormat>(samples: Samples.huawei)) }

  @Test("Minew's frame keeps the promises of a format")
  func minew() { check(FormatConformance<MinewFormat>(samples: Samples.minew)) }

  @Test("an MQTT message keeps the promises of a format")
  func mqtt() { check(FormatConformance<MQTTFormat>(samples: Samples.mqtt)) }

  @Test("MINEW-CONNECT keeps the promises of a format")
  func minewConnect() {
    check(FormatConformance<MinewConnectFormat>(samples: Samples.minewConnect, observer: .name("a")))
  }

  @Test("April Brother's map keeps the promises of a format")
  func aprilBrother() { check(FormatConformance<AprilBrotherFormat>(samples: Samples.aprilBrother)) }

  @Test("HCI events in digits keep the promises of a format")
  func hciText() { check(FormatConformance<HCITextFormat>(samples: Samples.hciText, observer: .name("a"))) }

  private func check<Format: DatagramFormat>(_ conformance: FormatConformance<Format>) {
    #expect(!conformance.samples.isEmpty)
    conformance.acceptsItsSamples()
    conformance.recognisesOnlyItsOwn()
    conformance.survivesTruncation()
    conformance.survivesMutation(rounds: 3_000, seed: 20_250_101)
    conformance.survivesNoise(rounds: 1_000, seed: 20_250_102)
  }
}
