#pragma once

// The structures of these two are values of a fixed size, which the newer EVP interface does not offer.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/aes.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
