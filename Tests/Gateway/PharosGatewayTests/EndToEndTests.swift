import Foundation
import PharosCaptures
import PharosFiles
import PharosGateway
import PharosModel
import PharosTestSupport
import PharosWire
import Testing

@Suite("A gateway that reads a capture", .serialized)
struct EndToEndTests {
  /// What tells one advert from another, whenever it was.
  private struct Content: Hashable {
    var address: DeviceAddress?
    var rssi: RSSI?
    var pdu: Advert.PDU
    var data: [UInt8]

    init(_ sighting: DecodedDatagram.Sighting) {
      (address, rssi, pdu, data) = (sighting.address, sighting.rssi, sighting.pdu, sighting.data)
    }

    init(_ report: AdvertisingReport) {
      (address, rssi, pdu, data) = (report.address, report.rssi, report.pdu.kind, Array(report.data))
    }
  }

  /// How much of a capture goes into the pipe before its adverts are waited for: fewer datagrams than a socket's buffer
  /// holds, so that nothing is lost however slow the machine is.
  private static let piece = 32_768

  /// Sends a capture through a pipe, piece by piece, and compares what arrives with what it holds; gives how much that is.
  private func compare(_ path: String) async throws -> Int {
    signal(SIGPIPE, SIG_IGN)
    let receiver = try Receiver()
    let pipe = try NamedPipe()
    let gateway = try RunningGateway(pipe.path, to: receiver.port)
    let writer = try pipe.writer()
    var reader = CaptureReader()
    var extractor = AdvertExtractor()
    var expected: [Content] = []
    var arrived: [Content] = []
    for piece in try Self.pieces(of: path) {
      try writer.write(contentsOf: piece)
      reader.append(piece)
      while let packet = try reader.nextPacket() {
        expected += extractor.reports(in: packet).map { Content($0) }
      }
      let datagrams = try receiver.datagrams(adverts: expected.count - arrived.count)
      arrived += try datagrams.flatMap { try DecodedDatagram($0).sightings }.map { Content($0) }
    }
    try writer.close()
    let report = try await gateway.end()
    #expect(arrived == expected, "\(path)")
    #expect(report.counters.sent == UInt64(expected.count))
    #expect(report.counters.dropped == 0)
    return expected.count
  }

  private static func pieces(of path: String) throws -> [[UInt8]] {
    var chunks = try FileChunks(path: path)
    var pieces: [[UInt8]] = []
    while let chunk = try chunks.next() {
      pieces += stride(from: 0, to: chunk.count, by: piece).map { start in
        Array(chunk[start..<min(chunk.count, start + piece)])
      }
    }
    return pieces
  }

  @Test("equals the adverts of captures that others made", .enabled(if: SharedData.isPresent))
  func shared() async throws {
    let files = SharedData.files(in: "captures/ble", endingIn: [".btsnoop", ".pcap", ".pcapng"])
    #expect(files.count > 10)
    var adverts = 0
    for file in files {
      let path = try #require(SharedData.folder).appending(path: file).path
      adverts += try await compare(path)
    }
    #expect(adverts > 1_000)
  }

  @Test(
    "equals the adverts of the simulator's captures, heard by a radio again",
    arguments: ["museum-visit", "noisy-doorway"]
  )
  func simulated(scene: String) async throws {
    let source = SharedData.repository.appending(path: "Captures/\(scene)/capture.pcapng").path
    let path = NSTemporaryDirectory() + "pharos-gateway-\(UUID().uuidString).btsnoop"
    defer { unlink(path) }
    try Data(try Self.btsnoop(of: source)).write(to: URL(filePath: path))
    // The captures hold 693 and 613 adverts; an empty comparison would prove nothing.
    #expect(try await compare(path) > 600)
  }

  /// The adverts in a capture of datagrams as a trace that btmon might have made of them.
  private static func btsnoop(of path: String) throws -> [UInt8] {
    var chunks = try FileChunks(path: path)
    var reader = CaptureReader()
    var assembler = DatagramAssembler()
    var decoder = DatagramDecoder()
    var trace = BtsnoopBytes.header
    while let chunk = try chunks.next() {
      reader.append(chunk)
      while let packet = try reader.nextPacket() {
        guard let datagram = assembler.add(packet), let time = datagram.time else { continue }
        var batch = ReportBatch()
        _ = decoder.decode(datagram.payload.span.bytes, received: time, into: &batch)
        for report in batch.reports {
          guard case .advert(let advert) = report.body else { continue }
          let data = Array(batch.payloads[Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)])
          trace += BtsnoopBytes.advert(
            advert.address?.bits ?? 0,
            data: Array(data.prefix(31)),
            level: advert.rssi?.dBm ?? 127,
            at: time
          )
        }
        // A few thousand are as good as all of them.
        if trace.count > 400_000 { return trace }
      }
    }
    return trace
  }
}
