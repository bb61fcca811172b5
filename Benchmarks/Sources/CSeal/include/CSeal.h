/*
 * CSeal: the tag of a signed Pharos datagram, made by nothing that the server uses.
 *
 * SHA-256 by FIPS 180-4, HMAC by RFC 2104, written down from them: what the attacks sign with must not share a mistake with
 * what they attack.
 */
#ifndef CSEAL_H
#define CSEAL_H

#include <stddef.h>
#include <stdint.h>

/* HMAC-SHA256 of bytes under a key of 32 bytes, into 32 bytes. */
void seal_hmac(const uint8_t *key, const uint8_t *bytes, size_t count, uint8_t *tag);

#endif
