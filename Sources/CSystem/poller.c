#include "CSystem.h"

#include <errno.h>
#include <sys/epoll.h>

enum { most_at_once = 64 };

int csystem_poller_open(void) {
    int poller = epoll_create1(EPOLL_CLOEXEC);
    return poller < 0 ? -errno : poller;
}

int csystem_poller_watch(int poller, int descriptor, int directions, int former, uint64_t mark) {
    struct epoll_event event = {.data.u64 = mark};
    if (directions & csystem_readable) event.events |= EPOLLIN | EPOLLRDHUP;
    if (directions & csystem_writable) event.events |= EPOLLOUT;
    int operation = directions == 0 ? EPOLL_CTL_DEL : former == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    return epoll_ctl(poller, operation, descriptor, &event) == 0 ? 0 : -errno;
}

int csystem_poller_wait(int poller, struct csystem_ready *ready, int capacity, int milliseconds) {
    struct epoll_event events[most_at_once];
    int count = epoll_wait(poller, events, capacity < most_at_once ? capacity : most_at_once, milliseconds);
    if (count < 0) return errno == EINTR ? 0 : -errno;
    for (int i = 0; i < count; i++) {
        ready[i].mark = events[i].data.u64;
        ready[i].directions = 0;
        if (events[i].events & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP)) ready[i].directions |= csystem_readable;
        if (events[i].events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) ready[i].directions |= csystem_writable;
    }
    return count;
}
