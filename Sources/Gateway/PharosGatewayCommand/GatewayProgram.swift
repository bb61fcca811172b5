import ArgumentParser
import PharosGateway

/// `pharos-gateway`: `pharos gateway` without the rest of pharos.
@main
struct GatewayProgram: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pharos-gateway",
    abstract: GatewayCommand.configuration.abstract,
    discussion: GatewayCommand.configuration.discussion
  )

  @OptionGroup var gateway: GatewayCommand

  func run() throws { try gateway.run() }
}
