#include "CCrash.h"
#include "record.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>

char ccrash_exception[most_message];

namespace {

void terminated() {
    if (std::exception_ptr current = std::current_exception()) {
        try {
            std::rethrow_exception(current);
        } catch (const std::exception &error) {
            std::strncpy(ccrash_exception, error.what(), sizeof ccrash_exception - 1);
        } catch (...) {
            std::strncpy(ccrash_exception, "of a type that says nothing", sizeof ccrash_exception - 1);
        }
    }
    std::abort();
}

void raise(const char *what) { throw std::runtime_error(what); }

// Takes effect before `main`, and needs no thread to be the first.
const bool installed = (std::set_terminate(terminated), true);

} // namespace

// Of Swift's runtime: names of Swift and of C++, in the short form of its backtraces. What it returns was allocated by malloc.
extern "C" char *_swift_backtrace_demangle(const char *mangled, size_t length, char *buffer, size_t *size);

bool ccrash_demangle(const char *mangled, char *buffer, size_t size) {
    size_t length = 0;
    char *name = _swift_backtrace_demangle(mangled, std::strlen(mangled), nullptr, &length);
    if (!name) return false;
    std::strncpy(buffer, name, size - 1);
    buffer[size - 1] = 0;
    std::free(name);
    return true;
}

void ccrash_throw(const char *what) {
    (void)installed;
    // Without this frame the exception would unwind into Swift, which has none of C++'s tables.
    [what]() noexcept { raise(what); }();
    std::abort();
}
