// The options of a command are made of these words: times, observers.
@_exported public import PharosReports
