import ArgumentParser
import PharosGateway
import PharosTerminal

/// The `pharos` command.
@main
struct PharosCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pharos",
    abstract: "An open server for BLE beacon regions and indoor positions.",
    discussion: """
      Gateways and handsets send the adverts that they receive over UDP; Pharos decides who is inside \
      which region, how near, in which room and where on the floor plan.

      See it at once:              pharos serve --demo
      Your first gateway:          pharos listen --udp 0.0.0.0:50001
      A site of your own:          pharos init, pharos check site.yaml,
                                   pharos serve --site site.yaml --data pharos-data
      What was made there:         pharos site export --url http://127.0.0.1:8080
      As a gateway:                btmon -w /dev/fd/3 3>&1 >/dev/null | \
                                   pharos gateway --from - --to HOST:50001
      As a service:                pharos systemd-unit, pharos token create, pharos observer add
      Watch it:                    pharos alerts, pharos grafana
      On several machines:         pharos serve --cluster, pharos cluster status
      A capture, offline:          pharos process hall.pcapng --site site.yaml
      Why it said so:              pharos explain hall.pcapng --site site.yaml
      Against the rule you use:    pharos compare hall.pcapng --svg hall.svg
      Where on the floor plan:     pharos survey learn, pharos survey locate
      Which room, taught by you:   pharos rooms learn, pharos rooms score
      Without a network:           pharos venue bundle, pharos way

      Exit codes: 0 all went well, 1 something failed on the way, 64 the command line \
      is wrong, 78 the site file is wrong.
      """,
    version: PharosVersion.text,
    subcommands: [
      InitCommand.self, ListenCommand.self, ServeCommand.self, ProcessCommand.self, ReplayCommand.self,
      InspectCommand.self, ExplainCommand.self, CompareCommand.self, SimulateCommand.self, CheckCommand.self,
      SiteCommand.self, VenueCommand.self, WayCommand.self, SurveyCommand.self, RoomsCommand.self,
      GatewayCommand.self,
      TokenCommand.self, ObserverCommand.self, EraseCommand.self,
      ClusterCommand.self,
      SystemdUnitCommand.self, AlertsCommand.self, GrafanaCommand.self,
    ]
  )

  /// What `pharos` alone prints: the next command, for each kind of user.
  private static let next = """
    Pharos decides who is inside which region and in which room, from the adverts
    that gateways send.

    Your own gateways:
      pharos serve --udp 0.0.0.0:50001 --http 127.0.0.1:8080 --data pharos-data
    An application of your own, with a demo to develop it on:
      pharos serve --demo
      curl -N -H 'Accept: text/event-stream' http://127.0.0.1:8080/v1/events
    A test under load, while a server runs:
      pharos simulate busy-hall -o hall.pcapng
      pharos replay hall.pcapng --to 127.0.0.1:50001 --speed 10

    The dashboard is at http://127.0.0.1:8080/. `pharos --help` lists all commands.
    """

  func run() throws { print(PharosCommand.next) }

  /// Runs the command; where the log is JSON, a mistake on the command line is a line of the log.
  static func main() async {
    do {
      var command = try parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      let (code, text) = (exitCode(for: error), message(for: error))
      guard !code.isSuccess, !text.isEmpty, LogOptions.areJSON(CommandLine.arguments) else {
        exit(withError: error)
      }
      LogSettings(format: .json).console().say(text, .error)
      exit(withError: code)
    }
  }
}

extension CommandStatus {
  /// Ends the process with this status, unless all went well.
  func leave() throws {
    guard self == .success else { throw ExitCode(rawValue) }
  }
}
