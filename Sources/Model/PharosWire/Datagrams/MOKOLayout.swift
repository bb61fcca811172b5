import PharosDocuments
import PharosModel

/// A message of MOKOSmart's gateways: adverts (`msg_id` 3070, formerly 3004) and the state of the network (3003).
///
/// - Shape: `device_info` {`mac`}; `data` [{`timestamp` in ms, `mac`, `rssi`, `adv_data`, `rsp_data`}], formerly each of them
///   under `value` with `raw`; or `data` {`net_state`: `online`}.
/// - Source: reelyactive/barnowl-mokosmart, `lib/mqttprotocoldecoder.js`.
enum MOKOLayout: JSONLayout {
  /// Reads a message.
  static func read(
    _ object: JSONMembers,
    _ bytes: RawSpan,
    _ context: JSONReportReader.Context,
    by reader: inout JSONReportReader,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    guard object[.deviceInfo].kind == .object else { return false }
    let gateway = reader.members(of: object[.deviceInfo], bytes)
    guard let place = try gateway.text(.address) else { return false }
    var inner = context
    inner.observer = try WireText.observer(bytes, place)
    switch object[.data].kind {
    case .array:
      reader.read(list: object[.data], under: .value, bytes, inner, into: &batch)
      return true
    case .object
    where reader.members(of: object[.data], bytes).word(.netState, bytes, JSONWords.online) != nil:
      try reader.append(.heartbeat(Heartbeat()), .received, inner, to: &batch)
      return true
    default: return false
    }
  }
}
