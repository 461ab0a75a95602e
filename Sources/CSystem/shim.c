// pthread_setname_np stands behind _GNU_SOURCE, which Swift's view of the C library does not set.
#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

void csystem_name_current_thread(const char *name) {
    char cut[16] = {0};
    strncpy(cut, name, sizeof cut - 1);
    pthread_setname_np(pthread_self(), cut);
}

// A handler may touch only such things, which is why it is not Swift. Dispatch's signal sources would do without it, but they leave the
// signals blocked in every thread, and so in every program started later.
enum { most_signals = 8 };
static volatile sig_atomic_t received;
static int ends[2] = {-1, -1};
static int watched[most_signals];
static struct sigaction former[most_signals];
static int watched_count;

static void receive(int number) {
    if (received) _exit(128 + number);
    received = 1;
    int saved = errno;
    unsigned char byte = (unsigned char)number;
    // The pipe is empty, since only one byte is ever written to it.
    ssize_t written = write(ends[1], &byte, 1);
    (void)written;
    errno = saved;
}

int csystem_signals_begin(const int *numbers, int count) {
    if (ends[0] >= 0) return -EBUSY;
    if (count > most_signals) return -EINVAL;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -errno;
    received = 0;
    struct sigaction action = {.sa_handler = receive, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    // One handler runs at a time, so that of two signals one is surely the second.
    for (int i = 0; i < count; i++) sigaddset(&action.sa_mask, numbers[i]);
    for (watched_count = 0; watched_count < count; watched_count++) {
        watched[watched_count] = numbers[watched_count];
        if (sigaction(numbers[watched_count], &action, &former[watched_count]) != 0) {
            int error = errno;
            csystem_signals_end();
            return -error;
        }
    }
    return ends[0];
}

void csystem_signals_end(void) {
    while (watched_count > 0) {
        watched_count--;
        sigaction(watched[watched_count], &former[watched_count], NULL);
    }
    close(ends[0]);
    close(ends[1]);
    ends[0] = ends[1] = -1;
}
