#define _GNU_SOURCE
#include "COpenVINO.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stddef.h>

const char *covino_library_path(void) {
    Dl_info info;
    return dladdr((const void *)ov_core_create, &info) ? info.dli_fname : NULL;
}

void covino_share_arena(void) {
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 1);
#endif
}
