// REG_RIP, dl_iterate_phdr and Dl_info stand behind _GNU_SOURCE.
#define _GNU_SOURCE
#include "CCrash.h"
#include "record.h"

#include <elf.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

// In the handler only what signal-safety(7) allows: no allocation, no lock, no stdio.

enum { most_frames = 64, most_maps = 48 * 1024 };

// Swift keeps the message of a fatal error there; a runtime that does not have it leaves this null.
extern const char *_Atomic *swift_getFatalErrorMessageBuffer(void) __attribute__((weak));

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE};
enum { signal_count = sizeof signals / sizeof signals[0] };

static struct sigaction former[signal_count];
static int record = -1;
static char header[1024];
// The thread that crashed first.
static _Atomic pid_t crashed_thread;
// Whether whoever handled the signal before has its turn.
static _Atomic bool is_handed_over;

static struct {
    _Atomic(const char *) name;
    _Atomic int64_t milliseconds;
} states[ccrash_state_capacity];
static _Atomic uint32_t state_count;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

void ccrash_state(const char *state) {
    uint32_t slot = atomic_fetch_add(&state_count, 1) % ccrash_state_capacity;
    atomic_store(&states[slot].milliseconds, now());
    atomic_store(&states[slot].name, state);
}

uint32_t ccrash_state_count(void) { return atomic_load(&state_count); }

// A line is put together here and written whole.
static char line[most_message * 2 + 64];
static unsigned used;

static void put(char character) {
    if (used < sizeof line - 1) line[used++] = character;
}

static void put_text(const char *text, unsigned most) {
    for (; text && *text && most > 0; text++, most--) {
        if (*text == '\n' || *text == '\\') put('\\');
        put(*text == '\n' ? 'n' : *text);
    }
}

static void put_key(const char *key) {
    while (*key) put(*key++);
    put(' ');
}

static void put_number(int64_t number) {
    char digits[24];
    int count = 0;
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    do digits[count++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (number < 0) put('-');
    while (count > 0) put(digits[--count]);
}

static void put_address(uint64_t address) {
    put('0');
    put('x');
    for (int shift = 60; shift >= 0; shift -= 4) put("0123456789abcdef"[address >> shift & 15]);
}

static void write_all(const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(record, bytes, count);
        if (written <= 0) return;
        bytes += written;
        count -= (size_t)written;
    }
}

static void end_line(void) {
    line[used++] = '\n';
    write_all(line, used);
    used = 0;
}

static void write_number(const char *key, int64_t number) {
    put_key(key);
    put_number(number);
    end_line();
}

static void write_states(void) {
    uint32_t end = atomic_load(&state_count);
    uint32_t begin = end > ccrash_state_capacity ? end - ccrash_state_capacity : 0;
    for (uint32_t i = begin; i < end; i++) {
        const char *name = atomic_load(&states[i % ccrash_state_capacity].name);
        if (!name) continue;
        put_key("state");
        put_number(atomic_load(&states[i % ccrash_state_capacity].milliseconds));
        put(' ');
        put_text(name, 64);
        end_line();
    }
}

static void write_frames(uint64_t at) {
    void *frames[most_frames];
    int count = backtrace(frames, most_frames);
    // The first ones are this handler's; where the crash is unknown to the unwinder it is put first.
    int first = 0;
    while (first < count && (uint64_t)frames[first] != at) first++;
    if (first == count) {
        first = 0;
        put_key("frame");
        put_address(at);
        end_line();
    }
    for (int i = first; i < count; i++) {
        put_key("frame");
        put_address((uint64_t)frames[i]);
        end_line();
    }
}

// Where programs and libraries lie in memory: `map` lines as in /proc/PID/maps.
static void write_maps(void) {
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (maps < 0) return;
    char buffer[2048];
    size_t total = 0;
    char is_start = 1;
    for (ssize_t count; total < most_maps && (count = read(maps, buffer, sizeof buffer)) > 0; total += (size_t)count) {
        for (ssize_t i = 0; i < count; i++) {
            if (is_start) put_key("map");
            is_start = buffer[i] == '\n';
            if (is_start) end_line();
            else put(buffer[i]);
        }
    }
    if (!is_start) end_line();
    close(maps);
}

static uint64_t instruction(const ucontext_t *context) {
#if defined(__x86_64__)
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return context->uc_mcontext.pc;
#else
#error "the program counter of this processor is not known here"
#endif
}

static void write_record(int number, const siginfo_t *information, const ucontext_t *context) {
    write_all(header, strlen(header));
    write_number("time", now());
    write_number("signal", number);
    write_number("code", information->si_code);
    put_key("address");
    put_address((uint64_t)information->si_addr);
    end_line();
    const char *message = ccrash_exception;
    if (!*message && swift_getFatalErrorMessageBuffer) message = atomic_load(swift_getFatalErrorMessageBuffer());
    if (message && *message) {
        put_key(*ccrash_exception ? "exception" : "message");
        put_text(message, most_message);
        end_line();
    }
    char thread[16] = {0};
    prctl(PR_GET_NAME, thread);
    put_key("thread");
    put_text(thread, sizeof thread);
    end_line();
    write_states();
    // All above needs nothing of the crashed thread; what follows walks its stack, and may crash itself.
    write_frames(instruction(context));
    write_maps();
    write_number("end", 1);
    fdatasync(record);
}

static void hand_over(int number, siginfo_t *information, void *context) {
    atomic_store(&is_handed_over, true);
    for (int i = 0; i < signal_count; i++) {
        if (signals[i] != number) continue;
        if (former[i].sa_flags & SA_SIGINFO) {
            former[i].sa_sigaction(number, information, context);
        } else if (former[i].sa_handler != SIG_DFL && former[i].sa_handler != SIG_IGN) {
            former[i].sa_handler(number);
        } else {
            signal(number, SIG_DFL);
            // A signal that was sent does not come again by itself, as a fault does.
            if (information->si_code <= 0) raise(number);
        }
        return;
    }
}

static struct {
    int number;
    siginfo_t *information;
    void *context;
} crash;

static void hand_over_crash(void) { hand_over(crash.number, crash.information, crash.context); }

// The stack that the signal came on may be a library's, with room for a signal and little else: OpenVINO gives 12 KiB to the thread that loads
// a model, which Swift's handler overflows. So that one gets a stack of its own. The record needs less, and its unwinder could not leave it.
static void hand_over_with_room(int number, siginfo_t *information, void *context) {
    static char stack[256 * 1024] __attribute__((aligned(16)));
    static ucontext_t here, there;
    crash.number = number;
    crash.information = information;
    crash.context = context;
    if (getcontext(&there) != 0) {
        hand_over_crash();
        return;
    }
    there.uc_stack = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
    there.uc_link = &here;
    makecontext(&there, hand_over_crash, 0);
    swapcontext(&here, &there);
}

static void crashed(int number, siginfo_t *information, void *context) {
    pid_t first = 0;
    if (atomic_compare_exchange_strong(&crashed_thread, &first, gettid())) {
        write_record(number, information, context);
        hand_over_with_room(number, information, context);
    } else if (first != gettid()) {
        // The process ends when the first one is done.
        for (;;) pause();
    } else if (atomic_load(&is_handed_over)) {
        // A handler that crashes holds its locks, and would wait for itself for ever. The fault comes again and ends the process.
        for (int i = 0; i < signal_count; i++) signal(signals[i], SIG_DFL);
        if (information->si_code <= 0) raise(number);
    } else {
        // A crash within the record, which is as long as it is.
        hand_over(number, information, context);
    }
}

int ccrash_reserve(int descriptor, int64_t bytes) {
    return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, bytes) == 0 ? 0 : errno;
}

void ccrash_install(int descriptor, const char *text) {
    record = descriptor;
    strncpy(header, text, sizeof header - 1);
    // The first call loads the unwinder, which allocates.
    void *frame;
    backtrace(&frame, 1);
    // A stack of its own for the main thread, whose own may be what overflowed. The others' come with Swift's.
    static char stack[64 * 1024];
    stack_t known;
    if (sigaltstack(NULL, &known) == 0 && known.ss_flags & SS_DISABLE) {
        stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
        sigaltstack(&own, NULL);
    }
    struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < signal_count; i++) sigaction(signals[i], &action, &former[i]);
}

void ccrash_take_room(void) {
    // A signal itself, and 6 KiB: half of what OpenVINO gives.
    size_t size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 6 * 1024, guard = (size_t)sysconf(_SC_PAGESIZE), above = (size + guard - 1) / guard * guard;
    char *memory = mmap(NULL, guard + above, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, guard, PROT_NONE) != 0) return;
    stack_t little = {.ss_sp = memory + guard, .ss_size = size};
    sigaltstack(&little, NULL);
}

struct destination {
    char *buffer;
    int size;
};

static int copy_build_id(struct dl_phdr_info *information, size_t size, void *context) {
    (void)size;
    struct destination *destination = context;
    for (int i = 0; i < information->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &information->dlpi_phdr[i];
        if (segment->p_type != PT_NOTE) continue;
        const char *at = (const char *)(information->dlpi_addr + segment->p_vaddr);
        const char *end = at + segment->p_memsz;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *note = (const void *)at;
            const char *name = at + sizeof *note;
            const unsigned char *bytes = (const unsigned char *)name + ((note->n_namesz + 3) & ~3u);
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
                for (unsigned byte = 0; byte < note->n_descsz && (int)(2 * byte + 2) < destination->size; byte++)
                    snprintf(destination->buffer + 2 * byte, 3, "%02x", bytes[byte]);
                return 1;
            }
            at = (const char *)bytes + ((note->n_descsz + 3) & ~3u);
        }
    }
    // The program itself comes first, and no other matters.
    return 1;
}

void ccrash_build_id(char *buffer, int size) {
    buffer[0] = 0;
    struct destination destination = {buffer, size};
    dl_iterate_phdr(copy_build_id, &destination);
}
