#pragma once
#include <stddef.h>

// Multicast sockets: their control messages are made with macros, which Swift cannot see. Addresses are the bytes of a sockaddr, so that
// this header owns none of the system's types.

/// Opens a non-blocking, close-on-exec UDP socket for `family` (AF_INET or AF_INET6; the latter for IPv6 alone), bound to `port` of any
/// address; several sockets may share the port. Received datagrams come with their interface. What it sends has hop limit 255 and is
/// heard on the sending machine too. Returns the descriptor or -errno.
int cmulticast_open(int family, unsigned short port);

/// Joins the mDNS group of the socket's family on one interface. Returns 0 or -errno; EADDRINUSE where it has joined already.
int cmulticast_join(int descriptor, int family, unsigned int interface);

/// Sends a datagram out of one interface (0: as routed). Returns 0 or -errno.
int cmulticast_send(
    int descriptor, const void *bytes, size_t count, const void *to, size_t to_length, unsigned int interface);

/// Receives one datagram with its sender and the interface it came in by. Returns its length, or -errno.
/// `from_length` is the room for the sender's address (128 bytes are enough for any), and then its length.
int cmulticast_receive(
    int descriptor, void *buffer, size_t capacity, void *from, size_t *from_length, unsigned int *interface);
