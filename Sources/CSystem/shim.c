// pthread_setname_np stands behind _GNU_SOURCE, which Swift's view of the C library does not set.
#define _GNU_SOURCE
#include "CSystem.h"

#include <pthread.h>
#include <string.h>

void csystem_name_current_thread(const char *name) {
    char cut[16] = {0};
    strncpy(cut, name, sizeof cut - 1);
    pthread_setname_np(pthread_self(), cut);
}
