#include "CAllocations.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_ulong count;

unsigned long callocations_count(void) { return atomic_load_explicit(&count, memory_order_relaxed); }

static void counted(void) { atomic_fetch_add_explicit(&count, 1, memory_order_relaxed); }

void *malloc(size_t size) {
    counted();
    return __libc_malloc(size);
}

void *calloc(size_t members, size_t size) {
    counted();
    return __libc_calloc(members, size);
}

void *realloc(void *memory, size_t size) {
    counted();
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    counted();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
    void *result = memalign(alignment, size);
    if (result == NULL) return ENOMEM;
    *memory = result;
    return 0;
}
