#pragma once

#include <microhttpd.h>

/// Bounds of a daemon; see microhttpd.h for what each does.
struct cmicrohttpd_limits {
    unsigned int connections;
    unsigned int connections_per_address;
    /// Seconds without any byte sent or received.
    unsigned int idle_seconds;
    /// Bytes for the head of a request and the buffers of its connection.
    size_t connection_memory;
};

/// Serves a socket that already listens, on one thread of the library's own, with suspend and resume; the socket becomes the daemon's.
///
/// The context goes to all three callbacks. Returns NULL on failure, and then the socket is still the caller's.
struct MHD_Daemon *cmicrohttpd_start(int listening_socket, struct cmicrohttpd_limits limits, MHD_AccessHandlerCallback handle,
                                     MHD_RequestCompletedCallback completed, MHD_NotifyConnectionCallback connection_changed,
                                     void *context);

/// The socket of a connection, which stays the daemon's; -1 if it has none any more.
int cmicrohttpd_socket(struct MHD_Connection *connection);
