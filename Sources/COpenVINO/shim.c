#define _GNU_SOURCE
#include "COpenVINO.h"

#include <dlfcn.h>
#include <stddef.h>

const char *covino_library_path(void) {
    Dl_info info;
    return dladdr((const void *)ov_core_create, &info) ? info.dli_fname : NULL;
}
