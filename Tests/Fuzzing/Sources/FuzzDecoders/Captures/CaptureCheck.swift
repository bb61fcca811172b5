import FuzzSupport
import PharosCaptures
import PharosDocuments
import PharosModel

/// Reads a capture whole and in pieces, and all that its packets hold.
struct CaptureCheck {
  /// What reading gave, and how it ended.
  private struct Outcome: Equatable {
    var digest = Digest()
    var items = 0
    var error: CaptureError?
  }

  /// Reads the bytes both ways.
  func receive(_ input: RawSpan) {
    let whole = read(input, pieces: false)
    demand(whole == read(input, pieces: true), "how a capture is cut into pieces changes nothing")
  }

  private func read(_ input: RawSpan, pieces: Bool) -> Outcome {
    var reader = CaptureReader()
    var outcome = Outcome()
    var finder = PacketFinder()
    var start = 0
    var step = pieces ? 1 : input.byteCount
    while start < input.byteCount {
      let end = min(input.byteCount, start + max(1, step))
      reader.append(input.extracting(start..<end))
      start = end
      // 1, 2, 3, 5, 8, …: cuts in every part of a header, and few enough.
      if pieces { step = step % 7 + 1 + (start > 64 ? step : 0) }
      guard drain(&reader, &outcome, &finder, looksInside: !pieces) else { return outcome }
    }
    do {
      try reader.finish()
    } catch {
      outcome.error = error
    }
    return outcome
  }

  /// Takes what there is; gives false after damage.
  private func drain(
    _ reader: inout CaptureReader,
    _ outcome: inout Outcome,
    _ finder: inout PacketFinder,
    looksInside: Bool
  ) -> Bool {
    do {
      while let item = try reader.next() {
        outcome.items += 1
        mix(item, into: &outcome.digest)
        if looksInside, case .packet(let packet) = item { finder.receive(packet) }
      }
      return true
    } catch {
      outcome.error = error
      return false
    }
  }

  private func mix(_ item: CaptureItem, into digest: inout Digest) {
    switch item {
    case .packet(let packet):
      demand(
        packet.bytes.count <= packet.originalLength || packet.isSnapped == false,
        "a packet is whole or cut"
      )
      digest.mix(UInt64(packet.number))
      digest.mix(UInt64(bitPattern: packet.time?.nanoseconds ?? 1))
      digest.mix(UInt64(packet.linkType.rawValue) << 32 | UInt64(packet.flags))
      digest.mix(UInt64(packet.interface))
      digest.mix(packet.bytes)
    case .block(let block):
      demand(block.body.count % 4 == 0, "a block's body is a multiple of four bytes")
      digest.mix(UInt64(block.type))
      digest.mix(block.body)
      demand((block.content?.count ?? 0) <= block.body.count, "a block's content lies within it")
    }
  }
}

/// Finds datagrams and adverts in packets, and writes both as the tools do.
struct PacketFinder {
  private var assembler = DatagramAssembler()
  private var extractor = AdvertExtractor(keepsDamaged: true)
  private var batch = ReportBatch()
  private var json = JSONText()

  /// Looks into a packet.
  mutating func receive(_ packet: Packet) {
    guard packet.linkType.isBluetooth else {
      if let datagram = assembler.add(packet) {
        demand(datagram.payload.count <= datagram.originalLength, "a datagram is no longer than it was")
        json.removeAll()
        datagram.append(to: &json)
      }
      demand(assembler.waiting <= 4_096, "few datagrams wait for their fragments")
      return
    }
    var copy = batch
    batch = ReportBatch()
    copy.removeAll()
    let received = packet.time ?? Timestamp(nanoseconds: 0)
    for report in extractor.reports(in: packet) {
      demand(report.data.count <= 1_650, "advertising data are as long as the air allows")
      report.append(to: &copy, observer: .name("sniffer"), received: received)
      json.removeAll()
      AdvertLine(report).append(to: &json)
    }
    batch = copy
  }
}
