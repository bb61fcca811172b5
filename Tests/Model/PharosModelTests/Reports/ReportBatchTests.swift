import PharosModel
import Testing

@Suite("Batches of reports")
struct ReportBatchTests {
  private func sample(_ batch: inout ReportBatch, observer: ObserverID, payload: [UInt8]) {
    let advert = Advert(address: nil, rssi: RSSI(dBm: -60), payload: batch.append(payload: payload))
    batch.append(
      Report(
        observer: batch.index(of: observer),
        received: Timestamp(seconds: 1),
        timing: .received,
        body: .advert(advert)
      )
    )
  }

  @Test("going back to a mark leaves nothing of what came behind it")
  func mark() {
    var batch = ReportBatch()
    sample(&batch, observer: .name("a"), payload: [1, 2, 3])
    let before = batch
    let mark = batch.mark
    sample(&batch, observer: .name("b"), payload: [4, 5])
    _ = batch.append(accessPoints: [
      AccessPoint(bssid: DeviceAddress(bits: 1, kind: .public), rssi: nil, frequency: 2_412, lastHeard: .zero)
    ])
    _ = batch.append(motionSamples: [MotionSample(kind: .step, age: .zero, x: 1, y: 0, z: 0)])
    batch.removeAll(behind: mark)
    #expect(batch == before)
  }

  @Test("a report that moves to another batch takes its bytes and its observer along")
  func move() throws {
    var source = ReportBatch()
    sample(&source, observer: .name("a"), payload: [1, 2, 3])
    sample(&source, observer: .name("b"), payload: [4, 5])
    var target = ReportBatch()
    sample(&target, observer: .name("c"), payload: [9])
    target.append(source.reports[1], from: source)
    let moved = try #require(target.reports.last)
    #expect(target.observers[Int(moved.observer)] == .name("b"))
    guard case .advert(let advert) = moved.body else {
      Issue.record("the advert became something else")
      return
    }
    #expect(
      Array(target.payloads[Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)]) == [4, 5]
    )
  }

  @Test("an observer that reports twice in a row stands once")
  func observers() {
    var batch = ReportBatch()
    #expect(batch.index(of: .name("a")) == 0)
    #expect(batch.index(of: .name("a")) == 0)
    #expect(batch.index(of: .name("b")) == 1)
    #expect(batch.index(of: .name("a")) == 2)
    #expect(batch.observers.count == 3)
  }
}
