package import PharosTerminal

/// A console that keeps what is printed.
package struct KeptConsole {
  package let output = MemorySink()
  package let errors = MemorySink()
  package init() {}

  package var console: Console { Console(output: output, errors: errors) }
}
