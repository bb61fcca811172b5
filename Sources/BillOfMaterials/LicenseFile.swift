import Foundation

/// Finds out which licence a folder's licence file states.
enum LicenseFile {
  private static let names = ["LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING"]

  /// Sentences that only one licence has, and how SPDX writes it; the more particular ones come first.
  private static let marks = [
    ("Runtime Library Exception", "Apache-2.0 WITH Swift-exception"),
    ("Apache License", "Apache-2.0"),
    ("Permission is hereby granted, free of charge", "MIT"),
    ("Redistribution and use in source and binary forms", "BSD-3-Clause"),
  ]

  /// The licence as SPDX writes it, or nil where there is no file or none that is known: better no word than a wrong one.
  static func expression(in folder: URL) -> String? {
    for name in names {
      let file = folder.appending(path: name)
      guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
      return marks.first { text.contains($0.0) }?.1
    }
    return nil
  }
}
