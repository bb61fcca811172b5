// Re-exports what a program needs beside Pharos.
@_exported public import PharosDocuments
@_exported public import PharosFixes
@_exported public import PharosIngest
@_exported public import PharosModel
@_exported public import PharosPipeline
@_exported public import PharosPresence
@_exported public import PharosPublishing
@_exported public import PharosRooms
@_exported public import PharosStays
