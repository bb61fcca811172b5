import PharosDocuments
import PharosModel
import PharosTestSupport
import PharosWire
import Testing

/// Datagrams that other programs made.
@Suite("Datagrams of others", .enabled(if: SharedData.isPresent))
struct SharedDataTests {
  @Test("the raddec vectors decode to what their encoder was given")
  func raddecVectors() throws {
    let vectors = try SharedData.jsonLines("vectors/raddec.jsonl")
    #expect(vectors.count > 20)
    for vector in vectors {
      let datagram = try payload(of: vector)
      let expect = try #require(vector["expect"] as? [String: Any])
      #expect(decoded(datagram) == .success(try lines(of: expect)))
      for bit in stride(from: 0, to: datagram.count * 8, by: 7) {
        var damaged = datagram
        damaged[bit / 8] ^= 1 << UInt8(bit % 8)
        if case .success = decoded(damaged) {
          Issue.record("bit \(bit) of \(Hex.text(datagram)) flipped and accepted")
        }
      }
    }
  }

  @Test(
    "every datagram of the raddec captures decodes",
    arguments: SharedData.files(in: "captures/udp", endingIn: [".golden.jsonl"])
      .filter { $0.contains("/raddec-") && !$0.contains("snaplen") }
  )
  func raddecCaptures(path: String) throws {
    var decoder = DatagramDecoder()
    var batch = ReportBatch()
    let datagrams = try payloads(path)
    for datagram in datagrams {
      let result = decoder.decode(datagram.span.bytes, received: receiveTime, into: &batch)
      #expect(result == .success(.raddec))
    }
    // Every raddec of these captures has one receiver and one packet, and a time.
    #expect(batch.reports.count == datagrams.count)
    #expect(!datagrams.isEmpty)
    for report in batch.reports {
      guard case .advert(let advert) = report.body, case .sent = report.timing else {
        Issue.record("no advert with a time: \(report)")
        continue
      }
      #expect(advert.address != nil && advert.pdu != .unknown)
    }
  }

  @Test(
    "raddec in JSON gives the reports of raddec in binary",
    arguments: SharedData.files(in: "captures/udp", endingIn: [".golden.jsonl"]).filter {
      $0.contains("/json-")
    }
  )
  func jsonCaptures(path: String) throws {
    let vectors = try SharedData.jsonLines("captures/udp/raddec-eth-ipv6.pcap.golden.jsonl")
      .map(payload(of:))
    var binary: [String] = []
    for vector in vectors { binary += try decoded(vector).get() }
    var text: [String] = []
    for datagram in try payloads(path) {
      let lines = try decoded(datagram).get()
      #expect(lines.count >= 10)
      text += lines
    }
    // Both captures carry the same adverts in the same order, as far as the shorter one goes.
    let count = min(binary.count, text.count)
    #expect(count > 50)
    #expect(text.prefix(count) == binary.prefix(count))
  }

  @Test(
    "datagrams of other protocols are refused and change nothing",
    arguments: SharedData.files(in: "captures/udp", endingIn: [".golden.jsonl"])
      .filter { !$0.contains("/raddec-") && !$0.contains("/json-") }
  )
  func outsiders(path: String) throws {
    for datagram in try payloads(path) {
      guard case .failure = decoded(datagram) else {
        Issue.record("accepted: \(Hex.text(datagram))")
        continue
      }
    }
  }

  private func payloads(_ path: String) throws -> [[UInt8]] {
    try SharedData.jsonLines(path).map(payload(of:))
  }

  private func payload(of line: [String: Any]) throws -> [UInt8] {
    let digits = try #require(line["payload"] as? String)
    return bytes(digits)
  }

  /// What a raddec with the given parts should decode to, worked out from the parts alone.
  private func lines(of expect: [String: Any]) throws -> [String] {
    let type = try #require(expect["transmitterIdType"] as? Int)
    let identifier = try #require(expect["transmitterId"] as? String)
    let address = try #require(DeviceAddress(identifier))
    let time = try #require(expect["timestamp"] as? Int)
    let digits = try #require((expect["packets"] as? [String])?.first)
    let packet = bytes(digits)
    let signature = try #require(expect["rssiSignature"] as? [[String: Any]])
    let pdus = [0: "connectable", 2: "nonConnectable", 4: "scanResponse", 6: "scannable"]
    let pdu = try #require(pdus[Int(packet[0] & 0x0F)])
    return try signature.map { receiver in
      let name = try #require(receiver["receiverId"] as? String)
      let observer = try #require(ObserverID(name))
      let level = try #require(receiver["rssi"] as? Int)
      return "\(observer) advert \(address)/\(type == 3 ? "random" : "public") \(level) "
        + "\(pdu) [\(Hex.text(packet.dropFirst(8)))] sent \(time)000000"
    }
  }
}
