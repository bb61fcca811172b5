#include "addresses.h"

#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

static uint64_t read_big_endian(const uint8_t *bytes) {
  uint64_t value = 0;
  for (int index = 0; index < 8; index++) value = value << 8 | bytes[index];
  return value;
}

static void write_big_endian(uint64_t value, uint8_t *bytes) {
  for (int index = 7; index >= 0; index--, value >>= 8) bytes[index] = (uint8_t)value;
}

pharos_address pharos_address_from(const struct sockaddr_storage *storage) {
  pharos_address address = {0};
  if (storage->ss_family == AF_INET) {
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)storage;
    address.low = ntohl(v4->sin_addr.s_addr);
    address.port = ntohs(v4->sin_port);
    address.version = 4;
  } else if (storage->ss_family == AF_INET6) {
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)storage;
    address.high = read_big_endian(v6->sin6_addr.s6_addr);
    address.low = read_big_endian(v6->sin6_addr.s6_addr + 8);
    address.port = ntohs(v6->sin6_port);
    address.scope = v6->sin6_scope_id;
    address.version = 6;
    /* ::ffff:a.b.c.d is how a socket of both versions shows a sender of version 4. */
    if (address.high == 0 && address.low >> 32 == 0xFFFF) {
      address.low &= 0xFFFFFFFF;
      address.version = 4;
    }
  }
  return address;
}

pharos_address pharos_address_of(const void *address, size_t length) {
  struct sockaddr_storage storage = {0};
  memcpy(&storage, address, length < sizeof storage ? length : sizeof storage);
  return pharos_address_from(&storage);
}

int pharos_look_up(const char *host, uint16_t port, int flags, pharos_address *found, int capacity) {
  const struct addrinfo hints = {.ai_flags = flags, .ai_socktype = SOCK_DGRAM};
  struct addrinfo *list = NULL;
  int outcome = getaddrinfo(host, NULL, &hints, &list);
  if (outcome != 0) return outcome;
  int count = 0;
  for (struct addrinfo *entry = list; entry && count < capacity; entry = entry->ai_next) {
    pharos_address address = pharos_address_of(entry->ai_addr, entry->ai_addrlen);
    if (address.version == 0) continue;
    address.port = port;
    found[count++] = address;
  }
  freeaddrinfo(list);
  return count;
}

socklen_t pharos_address_to(const pharos_address *address, struct sockaddr_storage *storage) {
  memset(storage, 0, sizeof *storage);
  if (address->version == 4) {
    struct sockaddr_in *v4 = (struct sockaddr_in *)storage;
    v4->sin_family = AF_INET;
    v4->sin_addr.s_addr = htonl((uint32_t)address->low);
    v4->sin_port = htons(address->port);
    return sizeof *v4;
  }
  if (address->version == 6) {
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)storage;
    v6->sin6_family = AF_INET6;
    write_big_endian(address->high, v6->sin6_addr.s6_addr);
    write_big_endian(address->low, v6->sin6_addr.s6_addr + 8);
    v6->sin6_port = htons(address->port);
    v6->sin6_scope_id = address->scope;
    return sizeof *v6;
  }
  return 0;
}
