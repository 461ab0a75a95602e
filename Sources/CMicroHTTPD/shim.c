#include "CMicroHTTPD.h"

// MHD_start_daemon takes its options as variable arguments, which Swift cannot pass.
struct MHD_Daemon *cmicrohttpd_start(int listening_socket, struct cmicrohttpd_limits limits, MHD_AccessHandlerCallback handle,
                                     MHD_RequestCompletedCallback completed, MHD_NotifyConnectionCallback connection_changed,
                                     void *context) {
    const unsigned int flags = MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_SUSPEND_RESUME;
    return MHD_start_daemon(flags, 0, NULL, NULL, handle, context, MHD_OPTION_LISTEN_SOCKET, (MHD_socket)listening_socket,
                            MHD_OPTION_CONNECTION_LIMIT, limits.connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
                            limits.connections_per_address, MHD_OPTION_CONNECTION_TIMEOUT, limits.idle_seconds,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits.connection_memory, MHD_OPTION_STRICT_FOR_CLIENT, 1,
                            MHD_OPTION_NOTIFY_COMPLETED, completed, context, MHD_OPTION_NOTIFY_CONNECTION, connection_changed,
                            context, MHD_OPTION_END);
}

int cmicrohttpd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *information = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return information ? information->connect_fd : -1;
}
