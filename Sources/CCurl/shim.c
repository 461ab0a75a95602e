// strncasecmp and dlsym.
#define _GNU_SOURCE
#include "CCurl.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static struct {
    CURLcode (*global_init)(long);
    CURL *(*init)(void);
    CURLcode (*setopt)(CURL *, CURLoption, ...);
    CURLcode (*perform)(CURL *);
    CURLcode (*getinfo)(CURL *, CURLINFO, ...);
    const char *(*text)(CURLcode);
    void (*cleanup)(CURL *);
    struct curl_slist *(*append)(struct curl_slist *, const char *);
    void (*free_all)(struct curl_slist *);
    int is_there;
} curl;

static void load(void) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    // POSIX allows this way of writing a function's address alone.
    struct {
        const char *name;
        void **place;
    } wanted[] = {
        {"curl_global_init", (void **)&curl.global_init}, {"curl_easy_init", (void **)&curl.init},
        {"curl_easy_setopt", (void **)&curl.setopt}, {"curl_easy_perform", (void **)&curl.perform},
        {"curl_easy_getinfo", (void **)&curl.getinfo}, {"curl_easy_strerror", (void **)&curl.text},
        {"curl_easy_cleanup", (void **)&curl.cleanup}, {"curl_slist_append", (void **)&curl.append},
        {"curl_slist_free_all", (void **)&curl.free_all},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (!(*wanted[i].place = dlsym(library, wanted[i].name))) return;
    curl.is_there = curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

static size_t drop(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    (void)context;
    return size * count;
}

static void take(const char *line, size_t length, const char *name, char *value, size_t size) {
    size_t prefix = strlen(name);
    if (length < prefix || strncasecmp(line, name, prefix) != 0) return;
    line += prefix;
    length -= prefix;
    while (length > 0 && *line == ' ') line++, length--;
    while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == '\n' || line[length - 1] == ' ')) length--;
    snprintf(value, size, "%.*s", (int)length, line);
}

static size_t read_header(char *line, size_t size, size_t count, void *context) {
    struct ccurl_response *response = context;
    take(line, size * count, "Retry-After:", response->retry_after, sizeof response->retry_after);
    take(line, size * count, "X-Sentry-Rate-Limits:", response->rate_limits, sizeof response->rate_limits);
    return size * count;
}

int ccurl_post(
    const char *url, const char *const *headers, int header_count, const void *body, size_t length, const char *authorities, long seconds,
    struct ccurl_response *response) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    memset(response, 0, sizeof *response);
    if (!curl.is_there) return 2;
    CURL *request = curl.init();
    if (!request) return 1;
    struct curl_slist *list = NULL;
    for (int i = 0; i < header_count; i++) list = curl.append(list, headers[i]);
    curl.setopt(request, CURLOPT_URL, url);
    curl.setopt(request, CURLOPT_PROTOCOLS_STR, "http,https");
    // Proxies of the environment too.
    curl.setopt(request, CURLOPT_PROXY, "");
    curl.setopt(request, CURLOPT_NOSIGNAL, 1L);
    curl.setopt(request, CURLOPT_TIMEOUT, seconds);
    curl.setopt(request, CURLOPT_HTTPHEADER, list);
    curl.setopt(request, CURLOPT_POST, 1L);
    curl.setopt(request, CURLOPT_POSTFIELDS, body);
    curl.setopt(request, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
    curl.setopt(request, CURLOPT_WRITEFUNCTION, drop);
    curl.setopt(request, CURLOPT_HEADERFUNCTION, read_header);
    curl.setopt(request, CURLOPT_HEADERDATA, response);
    if (authorities) curl.setopt(request, CURLOPT_CAINFO, authorities);
    CURLcode code = curl.perform(request);
    if (code == CURLE_OK) curl.getinfo(request, CURLINFO_RESPONSE_CODE, &response->status);
    else snprintf(response->error, sizeof response->error, "%s", curl.text(code));
    curl.free_all(list);
    curl.cleanup(request);
    return code == CURLE_OK ? 0 : 1;
}
