#define _GNU_SOURCE
#include "CV4L2.h"

#include <errno.h>
#include <fcntl.h>
#include <libv4l2.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

// libv4l2 writes its messages to stderr unless it is given a file; what matters comes back as errno.
static void silence(void) { v4l2_log_file = fopen("/dev/null", "we"); }

int cv4l2_open(const char *path) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, silence);
    int fd;
    do {
        fd = v4l2_open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    } while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

void cv4l2_close(int fd) { v4l2_close(fd); }

int cv4l2_ioctl(int fd, unsigned long request, void *argument) {
    int result;
    do {
        result = v4l2_ioctl(fd, request, argument);
    } while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : result;
}

int cv4l2_wait(int fd, int timeout_milliseconds) {
    struct pollfd event = {.fd = fd, .events = POLLIN};
    int result = poll(&event, 1, timeout_milliseconds);
    if (result < 0) return errno == EINTR ? 0 : -errno;
    return result;
}

int cv4l2_map(int fd, size_t length, uint32_t offset, void **memory) {
    // Writable too, because libv4l2 asks for that where it converts.
    *memory = v4l2_mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    return *memory == MAP_FAILED ? -errno : 0;
}

void cv4l2_unmap(void *memory, size_t length) { v4l2_munmap(memory, length); }
