import PharosDocuments
import PharosModel

/// The alerting rules for Prometheus that `pharos alerts` prints.
///
/// Each rule names a condition that a person must act on, and says what to do. Rules that concern one gateway wait longer
/// than the restart of a gateway takes.
package enum AlertRules {
  /// The job name that scrape configurations give the server, unless the operator names another one.
  package static let defaultJob = "pharos"

  /// A rule: its name, the condition in PromQL, the time for which it must hold, and the sentences for the person.
  private struct Rule {
    var name: String
    var severity: String
    var condition: String
    var duration: String
    var summary: String
    var action: String
  }

  /// Returns the file of rules, YAML as Prometheus' `rule_files` reads it, for a server that is scraped as `job`.
  package static func text(job: String = defaultJob) -> String {
    var text = """
      # Alerting rules for Pharos. Name this file under rule_files in prometheus.yml.
      groups:
        - name: pharos
          rules:

      """
    for rule in rules(
      selecting: #"job="\#(EscapedText.label(job))""#
    ) {
      text += """
              - alert: \(rule.name)
                expr: \(EscapedText.yaml(rule.condition))
                for: \(rule.duration)
                labels:
                  severity: \(rule.severity)
                annotations:
                  summary: \(EscapedText.yaml(rule.summary))
                  description: \(EscapedText.yaml(rule.action))

        """
    }
    return text
  }

  private static func rules(selecting job: String) -> [Rule] {
    let observer =
      "{{ if $labels.name }}{{ $labels.name }} ({{ $labels.observer }}){{ else }}{{ $labels.observer }}{{ end }}"
    return [
      Rule(
        name: "PharosDown",
        severity: "critical",
        condition: "up{\(job)} == 0",
        duration: "1m",
        summary: "Pharos on {{ $labels.instance }} does not answer",
        action: "No decision is made. Look at `systemctl status pharos` and its log."
      ),
      Rule(
        name: "PharosNothingArrives",
        severity: "critical",
        condition: "rate(\(Metric.datagrams.selected(job))[5m]) == 0",
        duration: "5m",
        summary: "Pharos on {{ $labels.instance }} receives no datagram",
        action: "Check the network, the firewall and the destination that the gateways are configured with."
      ),
      Rule(
        name: "PharosObserverDown",
        severity: "warning",
        condition: "\(Metric.observerUp.selected(job)) == 0",
        duration: "5m",
        summary: "Observer \(observer) is down",
        action: "Its regions are unmonitored: no exit is reported for them. Check its power and its network."
      ),
      Rule(
        name: "PharosObserverLosesDatagrams",
        severity: "warning",
        condition: """
          rate(\(Metric.observerMissing.selected(job))[10m]) > \
          0.05 * (rate(\(Metric.observerDatagrams.selected(job))[10m]) + rate(\(Metric.observerMissing.selected(job))[10m]))
          """,
        duration: "15m",
        summary: "More than 5 % of the datagrams of observer \(observer) are lost",
        action: "Exits take longer while datagrams are lost. Check the Wi-Fi or the cable of the gateway."
      ),
      Rule(
        name: "PharosDatagramsRefused",
        severity: "warning",
        condition: """
          sum without (format) (rate(\(Metric.datagramsRefused.selected(job))[10m])) > \
          on (instance) group_left () (0.05 * rate(\(Metric.datagrams.selected(job))[10m]))
          """,
        duration: "15m",
        summary: "More than 5 % of the datagrams are refused: {{ $labels.reason }}",
        action:
          "The Status page of the dashboard names the senders. Check the format and the keys of these gateways."
      ),
      Rule(
        name: "PharosObserversQuarantined",
        severity: "info",
        condition: "rate(\(Metric.quarantined.selected(job))[10m]) > 0",
        duration: "15m",
        summary: "Observers that are not accepted send reports",
        action: "Accept them on the Gateways page or with `pharos observer accept`, or find out what sends."
      ),
      Rule(
        name: "PharosKernelDrops",
        severity: "warning",
        condition: "increase(\(Metric.kernelDrops.selected(job))[10m]) > 0",
        duration: "0m",
        summary: "The kernel dropped datagrams because a receive buffer was full",
        action: "Raise net.core.rmem_max, or start the server with more --loops."
      ),
      Rule(
        name: "PharosEventsLate",
        severity: "warning",
        condition: "\(Metric.deliveryLag.selected(job)) > 10",
        duration: "5m",
        summary: "Events are delivered {{ $value | humanizeDuration }} behind the datagrams",
        action:
          "The machine is overloaded or its disk is slow. Compare \(Metric.processorTime.name) and \(Metric.lastCommit.name)."
      ),
      Rule(
        name: "PharosJournalRefuses",
        severity: "critical",
        condition: "\(Metric.journalRefusing.selected(job)) == 1",
        duration: "1m",
        summary: "The journal cannot be written",
        action:
          "Events wait in memory; when 262,144 wait, the sockets are not read. /readyz gives the reason: a full disk, a locked or read-only file."
      ),
      Rule(
        name: "PharosEventsLost",
        severity: "critical",
        condition: "increase(\(Metric.eventsLost.selected(job))[10m]) > 0",
        duration: "0m",
        summary:
          "{{ $value | humanize }} events were dropped because the server stopped while the journal could not be written",
        action: "Mend the disk of the data folder; clients should read the present states again."
      ),
      Rule(
        name: "PharosClusterWaits",
        severity: "critical",
        condition: "min_over_time(\(Metric.clusterWaiting.selected(job))[1m]) > 0",
        duration: "1m",
        summary: "{{ $value }} batches of inputs wait for the log of the cluster",
        action:
          "Nothing is decided meanwhile. See that most servers of NATS run and reach each other; /readyz gives the reason."
      ),
      Rule(
        name: "PharosWebhookFails",
        severity: "warning",
        condition: #"\#(Metric.webhookStates.selected(#"\#(job),state=~"failing|disabled""#)) > 0"#,
        duration: "10m",
        summary: "{{ $value }} webhooks are {{ $labels.state }}",
        action: "The Webhooks page gives the answer of the receiver. Events are kept and sent again."
      ),
      Rule(
        name: "PharosFilesRunOut",
        severity: "warning",
        condition:
          "\(Metric.openDescriptors.selected(job)) > 0.8 * \(Metric.maximumDescriptors.selected(job))",
        duration: "5m",
        summary: "Pharos uses {{ $value | humanize }} files, more than 80 % of its limit",
        action: "Raise LimitNOFILE of the unit, or lower PHAROS_HTTP_CONNECTIONS."
      ),
      Rule(
        name: "PharosRestarts",
        severity: "warning",
        condition: "changes(\(Metric.processStart.selected(job))[15m]) > 2",
        duration: "0m",
        summary: "Pharos started {{ $value }} times within 15 minutes",
        action: "Look at `journalctl -u pharos`: systemd restarts a server that fails or does not answer."
      ),
    ]
  }
}
