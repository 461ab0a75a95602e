// pthread_setname_np and pipe2 stand behind _GNU_SOURCE, which Swift's view of the C library does not set.
#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

void csystem_name_current_thread(const char *name) {
    char cut[16] = {0};
    strncpy(cut, name, sizeof cut - 1);
    pthread_setname_np(pthread_self(), cut);
}

// A signal handler may touch only such things, which is why it is not Swift. Dispatch's signal sources would do without it, but they leave
// the signals blocked in every thread, and so in every program started later.
enum { most_signals = 8 };
static atomic_flag received = ATOMIC_FLAG_INIT;
static _Atomic int write_end = -1;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int read_end = -1;
static int watched[most_signals];
static struct sigaction former[most_signals];
static int watched_count;

static void receive(int number) {
    if (atomic_flag_test_and_set(&received)) _exit(128 + number);
    int saved = errno;
    unsigned char byte = (unsigned char)number;
    // The pipe has room, since only one byte is ever written to it.
    ssize_t written = write(write_end, &byte, 1);
    (void)written;
    errno = saved;
}

static void restore(void) {
    while (watched_count > 0) {
        watched_count--;
        sigaction(watched[watched_count], &former[watched_count], NULL);
    }
    close(read_end);
    close(write_end);
    read_end = write_end = -1;
}

static int watch(const int *numbers, int count) {
    if (read_end >= 0) return -EBUSY;
    if (count > most_signals) return -EINVAL;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -errno;
    read_end = ends[0];
    write_end = ends[1];
    atomic_flag_clear(&received);
    struct sigaction action = {.sa_handler = receive, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < count; i++) {
        watched[i] = numbers[i];
        if (sigaction(numbers[i], &action, &former[i]) != 0) {
            int error = errno;
            restore();
            return -error;
        }
        watched_count = i + 1;
    }
    return read_end;
}

int csystem_signals_begin(const int *numbers, int count) {
    pthread_mutex_lock(&lock);
    int result = watch(numbers, count);
    pthread_mutex_unlock(&lock);
    return result;
}

void csystem_signals_end(void) {
    pthread_mutex_lock(&lock);
    restore();
    pthread_mutex_unlock(&lock);
}
