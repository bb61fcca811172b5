import PharosDocuments
import PharosModel
import PharosTestSupport
import PharosWire
import Testing

/// What every format promises, whatever its bytes mean.
struct FormatConformance<Format: DatagramFormat> {
  /// Whole valid datagrams of the format.
  let samples: [[UInt8]]
  /// The observer that holds where a datagram names none.
  var observer: ObserverID?

  /// A batch that holds something already, so that a wrong roll-back is seen.
  private static var used: ReportBatch {
    var batch = ReportBatch()
    let payload = batch.append(payload: [2, 1, 6])
    let observer = batch.index(of: .eui48(0xAC23_3FA0_0001))
    let advert = Advert(address: nil, rssi: RSSI(dBm: -50), payload: payload)
    batch.append(Report(observer: observer, received: receiveTime, timing: .received, body: .advert(advert)))
    let scan = batch.append(accessPoints: [
      AccessPoint(bssid: DeviceAddress(bits: 1, kind: .public), rssi: nil, frequency: 0, lastHeard: .zero)
    ])
    batch.append(Report(observer: observer, received: receiveTime, timing: .received, body: .wifiScan(scan)))
    return batch
  }

  /// Decodes behind what a batch holds already; checks what holds for any bytes; gives the lines that were
  /// added.
  @discardableResult
  func decode(_ datagram: [UInt8]) -> [String]? {
    let before = Self.used
    var batch = before
    do throws(DatagramRefusal) {
      var notes = DecodingNotes()
      let context = MessageContext(received: receiveTime, observer: observer)
      try Format.decode(datagram.span.bytes, within: context, into: &batch, notes: &notes)
    } catch {
      #expect(batch == before, "a refused datagram (\(error)) changed the batch: \(Hex.text(datagram))")
      return nil
    }
    #expect(batch.reports.prefix(before.count).elementsEqual(before.reports))
    #expect(
      batch.reports.allSatisfy { Int($0.observer) < batch.observers.count && $0.received == receiveTime }
    )
    // Makes every range be followed; one that leads outside traps.
    return Array(batch.lines.dropFirst(before.reports.count))
  }

  func acceptsItsSamples() {
    for sample in samples {
      #expect(decode(sample) != nil, "\(Hex.text(sample))")
      #expect(decode(sample) == decode(sample))
    }
  }

  func recognisesOnlyItsOwn() {
    for sample in samples {
      let format = WireFormat(recognising: sample.span.bytes)
      #expect(format == WireFormat(Format.self))
      let count = WireFormat.list.count { $0.recognises(sample.span.bytes) }
      #expect(count == 1)
    }
    let nothing: [UInt8] = []
    let recognisesNothing = Format.recognises(nothing.span.bytes)
    #expect(!recognisesNothing)
  }

  /// A datagram that was cut is refused, or gives reports that the whole one gives, in its order; the last of them may be
  /// cut as well, where the format has no way to tell.
  func survivesTruncation() {
    for sample in samples {
      let whole = decode(sample) ?? []
      for length in 0..<sample.count {
        guard let lines = decode(Array(sample.prefix(length))) else { continue }
        var rest = whole[...]
        for line in lines.dropLast() {
          guard let place = rest.firstIndex(of: line) else {
            Issue.record("\(line) is not in the whole datagram, cut at \(length): \(Hex.text(sample))")
            break
          }
          rest = rest[(place + 1)...]
        }
        #expect(lines.count <= whole.count)
      }
    }
  }

  func survivesMutation(rounds: Int, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<rounds {
      guard var mutant = samples.randomElement(using: &random) else { return }
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0...mutant.count, using: &random)
        switch Int.random(in: 0...4, using: &random) {
        case 0: mutant.insert(.random(in: 0...255, using: &random), at: place)
        case 1 where place < mutant.count: mutant.remove(at: place)
        case 2 where place < mutant.count: mutant[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
        case 3:
          let other = samples.randomElement(using: &random) ?? []
          mutant.replaceSubrange(
            place...,
            with: other.suffix(Int.random(in: 0...other.count, using: &random))
          )
        default: if place < mutant.count { mutant[place] = .random(in: 0...255, using: &random) }
        }
      }
      decode(mutant)
    }
  }

  /// Bytes without any sense behind the ones by which the format is recognised.
  func survivesNoise(rounds: Int, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<rounds {
      let head = (samples.first ?? []).prefix(Int.random(in: 1...8, using: &random))
      let noise = (0..<Int.random(in: 0...200, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      decode(Array(head) + noise)
    }
  }
}
