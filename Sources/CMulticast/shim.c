// in_pktinfo and in6_pktinfo stand behind _GNU_SOURCE.
#define _GNU_SOURCE
#include "CMulticast.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int set(int descriptor, int level, int option, int value) {
    return setsockopt(descriptor, level, option, &value, sizeof value);
}

static int configure(int descriptor, int family, unsigned short port) {
    if (set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1) != 0 || set(descriptor, SOL_SOCKET, SO_REUSEPORT, 1) != 0) return -errno;
    if (family == AF_INET) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
        if (set(descriptor, IPPROTO_IP, IP_PKTINFO, 1) != 0 || set(descriptor, IPPROTO_IP, IP_MULTICAST_TTL, 255) != 0 ||
            set(descriptor, IPPROTO_IP, IP_TTL, 255) != 0 || set(descriptor, IPPROTO_IP, IP_MULTICAST_LOOP, 1) != 0 ||
            bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0)
            return -errno;
        // Only the groups this socket has joined itself, not those of every program on the machine.
        (void)set(descriptor, IPPROTO_IP, IP_MULTICAST_ALL, 0);
    } else {
        struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
        if (set(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 1) != 0 || set(descriptor, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1) != 0 ||
            set(descriptor, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, 255) != 0 || set(descriptor, IPPROTO_IPV6, IPV6_UNICAST_HOPS, 255) != 0 ||
            set(descriptor, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 1) != 0 ||
            bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0)
            return -errno;
    }
    return 0;
}

int cmulticast_open(int family, unsigned short port) {
    if (family != AF_INET && family != AF_INET6) return -EAFNOSUPPORT;
    int descriptor = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -errno;
    int result = configure(descriptor, family, port);
    if (result < 0) {
        close(descriptor);
        return result;
    }
    return descriptor;
}

int cmulticast_join(int descriptor, int family, unsigned int interface) {
    int result;
    if (family == AF_INET) {
        struct ip_mreqn group = {.imr_ifindex = (int)interface};
        inet_pton(AF_INET, "224.0.0.251", &group.imr_multiaddr);
        result = setsockopt(descriptor, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof group);
    } else {
        struct ipv6_mreq group = {.ipv6mr_interface = interface};
        inet_pton(AF_INET6, "ff02::fb", &group.ipv6mr_multiaddr);
        result = setsockopt(descriptor, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, &group, sizeof group);
    }
    return result == 0 ? 0 : -errno;
}

int cmulticast_send(
    int descriptor, const void *bytes, size_t count, const void *to, size_t to_length, unsigned int interface) {
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(struct in6_pktinfo))];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {.msg_name = (void *)to, .msg_namelen = (socklen_t)to_length, .msg_iov = &part, .msg_iovlen = 1};
    if (interface != 0) {
        struct cmsghdr *head = &control.head;
        message.msg_control = &control;
        if (((const struct sockaddr *)to)->sa_family == AF_INET) {
            struct in_pktinfo information = {.ipi_ifindex = (int)interface};
            head->cmsg_level = IPPROTO_IP;
            head->cmsg_type = IP_PKTINFO;
            head->cmsg_len = CMSG_LEN(sizeof information);
            message.msg_controllen = CMSG_SPACE(sizeof information);
            memcpy(CMSG_DATA(head), &information, sizeof information);
        } else {
            struct in6_pktinfo information = {.ipi6_ifindex = interface};
            head->cmsg_level = IPPROTO_IPV6;
            head->cmsg_type = IPV6_PKTINFO;
            head->cmsg_len = CMSG_LEN(sizeof information);
            message.msg_controllen = CMSG_SPACE(sizeof information);
            memcpy(CMSG_DATA(head), &information, sizeof information);
        }
    }
    ssize_t sent;
    do sent = sendmsg(descriptor, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : 0;
}

int cmulticast_receive(
    int descriptor, void *buffer, size_t capacity, void *from, size_t *from_length, unsigned int *interface) {
    union {
        struct cmsghdr head;
        char room[256];
    } control;
    struct iovec part = {.iov_base = buffer, .iov_len = capacity};
    struct msghdr message = {
        .msg_name = from, .msg_namelen = (socklen_t)*from_length, .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
        .msg_controllen = sizeof control};
    ssize_t received;
    do received = recvmsg(descriptor, &message, 0);
    while (received < 0 && errno == EINTR);
    if (received < 0) return -errno;
    *from_length = message.msg_namelen;
    *interface = 0;
    for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head != NULL; head = CMSG_NXTHDR(&message, head)) {
        if (head->cmsg_level == IPPROTO_IP && head->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo information;
            memcpy(&information, CMSG_DATA(head), sizeof information);
            *interface = (unsigned int)information.ipi_ifindex;
        } else if (head->cmsg_level == IPPROTO_IPV6 && head->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo information;
            memcpy(&information, CMSG_DATA(head), sizeof information);
            *interface = information.ipi6_ifindex;
        }
    }
    return (int)received;
}
