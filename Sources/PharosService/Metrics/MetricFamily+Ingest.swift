/// What arrives, and what stands in its way.
extension MetricFamily {
  static let datagrams = counter("pharos_ingest_datagrams_total", "Datagrams received")
  static let receivedBytes = counter("pharos_ingest_received_bytes_total", "Bytes of received datagrams")
  static let decoded = counter(
    "pharos_ingest_datagrams_decoded_total",
    "Datagrams decoded, by format",
    by: "format"
  )
  static let decodedReports = counter(
    "pharos_ingest_reports_total",
    "Reports that decoded datagrams brought, by format",
    by: "format"
  )
  static let refused = counter(
    "pharos_ingest_datagrams_refused_total",
    "Datagrams refused, by format (unknown where it has none) and reason",
    by: "format",
    "reason"
  )
  static let kernelDrops = counter(
    "pharos_ingest_kernel_drops_total",
    "Datagrams that the kernel dropped because a receive buffer was full"
  )
  static let queueWaits = counter(
    "pharos_ingest_queue_waits_total",
    "Times that a socket waited because a queue between threads was full, which loses nothing"
  )
  static let forwarded = counter(
    "pharos_ingest_reports_forwarded_total",
    "Reports that one loop decoded and another decided"
  )
  static let socketErrors = counter("pharos_ingest_socket_errors_total", "Passing errors of sockets")
  static let tableEvictions = counter(
    "pharos_ingest_table_evictions_total",
    "Devices and senders that the bounded tables forgot to make room"
  )
  static let receiveBuffer = gauge(
    "pharos_ingest_receive_buffer_bytes",
    "The smallest receive buffer that the kernel granted a socket"
  )
  static let deliveryLag = gauge(
    "pharos_ingest_delivery_lag_seconds",
    "How far delivered events are behind received datagrams"
  )
  static let isRecording = gauge("pharos_ingest_recording", "Whether inputs are being recorded, 1 or 0")
  static let devicesHeard = gauge("pharos_heard_devices", "Devices heard lately, registered or not")

  static let ingest = [
    datagrams, receivedBytes, decoded, decodedReports, refused, kernelDrops, queueWaits, forwarded,
    socketErrors, tableEvictions, receiveBuffer, deliveryLag, isRecording, devicesHeard,
  ]
}
