/// A certificate and keys for tests of TLS.
package enum TestCertificate {
  /// A certificate for localhost that vouches for itself until 2126; made for these tests and used nowhere else.
  package static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBnDCCAUGgAwIBAgIUbbPLOSV9GvJG3qYno+IXFi2ElO4wCgYIKoZIzj0EAwIw
    FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTE5MjAxMVoYDzIxMjYxMDI4
    MTkyMDExWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
    PQMBBwNCAASycvAfR0MxMsAEF4EfFBugHoWARZcKraHaBMDZsXrRszQKVJcxe6o4
    fcvnptiuFtCQtDDQ14puVTDH+SJapVV2o28wbTAdBgNVHQ4EFgQUqYBR9UIFgrnV
    jWGUqKoF3bWH22gwHwYDVR0jBBgwFoAUqYBR9UIFgrnVjWGUqKoF3bWH22gwDwYD
    VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
    zj0EAwIDSQAwRgIhALemrcVCghHJZNPSfuvb7vzKAqPK+CsJHnfFmwwTp7fgAiEA
    tnzexoSVJkuqke01gX/2Bqo4Ljdbc+biQl5D2H7eEBk=
    -----END CERTIFICATE-----
    """

  /// Its key.
  package static let key = """
    -----BEGIN EC PRIVATE KEY-----
    MHcCAQEEIN3LULIpuzgwAsdf9AbHU4hqViUEMAMvNTMaGEjlZnE6oAoGCCqGSM49
    AwEHoUQDQgAEsnLwH0dDMTLABBeBHxQboB6FgEWXCq2h2gTA2bF60bM0ClSXMXuq
    OH3L56bYrhbQkLQw0NeKblUwx/kiWqVVdg==
    -----END EC PRIVATE KEY-----
    """

  /// The key of another certificate.
  package static let foreignKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQggRsj090y7Gji0KIo
    5EAtAIxFM2Lwm+PiJ4s924f0pxmhRANCAARBOvmh98ur6+VHlA0sGd5qNDQZQxvB
    tBHkPYpOEFrubPmWhmj6ecPEXraykwVO1WiH6YV1KaBm7WgjYOO3eVnh
    -----END PRIVATE KEY-----
    """
}
