// The options of a command are made of these words: times, observers, addresses.
@_exported public import PharosModel
@_exported public import PharosSite
