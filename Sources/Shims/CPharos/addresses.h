/* Between the addresses of the system and those of CPharos.h. */
#ifndef CPHAROS_ADDRESSES_H
#define CPHAROS_ADDRESSES_H

#include <sys/socket.h>

#include "CPharos.h"

/* The address in the form of CPharos.h; version 0 for what is neither IPv4 nor IPv6. */
pharos_address pharos_address_from(const struct sockaddr_storage *storage);

/* The address in the form of the system and its length, or 0 for a version that is neither 4 nor 6. */
socklen_t pharos_address_to(const pharos_address *address, struct sockaddr_storage *storage);

#endif
