import CPharos
import PharosCaptures
import PharosFiles
import PharosReports

/// The input's side.
extension GatewayRun {
  /// Whether the input tells what is heard at this moment, so that nothing can be kept waiting.
  var isLive: Bool {
    if playback != nil { return true }
    return !input.isFile && hearing.isLive != false
  }

  /// Whether there is room for more bytes of the input, and use for them.
  var wantsBytes: Bool {
    !isInputOver && isDrained && held == nil && gateway.wantsInput(isLive: isLive)
  }

  /// Hands packets to the gateway as they are due, and reads a file on as there is room.
  mutating func takePackets() {
    for _ in 0..<GatewayRun.packetsAtOnce {
      guard !isInputOver || !isDrained || held != nil else { return }
      guard gateway.wantsInput(isLive: isLive) else { return }
      if let (packet, due) = held {
        guard due <= GatewayRun.now else { return }
        held = nil
        gateway.take(packet, heard: due)
        continue
      }
      guard let packet = nextPacket() else {
        guard isDrained, input.isFile, !isInputOver else { return }
        readInput()
        continue
      }
      take(packet)
    }
  }

  /// Reads what there is.
  mutating func readInput() {
    hearing.look(
      HearingClock.Reading(now: GatewayRun.now, wall: Timestamp(nanoseconds: pharos_clock_wall()))
    )
    do throws(FileError) {
      let bytes = try input.read()
      if let bytes { reader.append(bytes) } else { endInput(isComplete: true) }
      readableAt = GatewayRun.now + GatewayInput.pause
      isDrained = false
    } catch {
      damage = "\(error)"
      endInput()
    }
  }

  /// Leaves the input, or finds it ended.
  mutating func endInput(isComplete: Bool = false) {
    guard !isInputOver else { return }
    isInputOver = true
    if !isComplete {
      isDrained = true
      held = nil
      gateway.end(at: GatewayRun.now)
    }
  }

  private mutating func take(_ packet: Packet) {
    if playback != nil {
      let due = playback?.due(packet.time, at: GatewayRun.now) ?? GatewayRun.now
      if due > GatewayRun.now {
        held = (packet, due)
      } else {
        gateway.take(packet, heard: due)
      }
    } else {
      // A file's times are those of its making, however lately that was.
      gateway.take(packet, heard: input.isFile ? GatewayRun.now : hearing.heard(packet.time))
    }
  }

  /// Returns the next packet of the bytes read so far, or nil if there is none.
  ///
  /// Once the input is over and no packet is left, it tells the gateway that nothing more will come.
  private mutating func nextPacket() -> Packet? {
    guard !isDrained else { return nil }
    do throws(CaptureError) {
      if let packet = try reader.nextPacket() { return packet }
      if isInputOver { try reader.finish() }
    } catch {
      damage = "\(error)"
      isInputOver = true
    }
    isDrained = true
    if isInputOver { gateway.end(at: GatewayRun.now) }
    return nil
  }
}
