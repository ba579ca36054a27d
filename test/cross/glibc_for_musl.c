// What a libstdc++ and a libgcc_s for glibc take from glibc, for a program with musl that needs libstdc++ only for
// containers, mutexes and errors: .ci/musl runs Bun with it. The library has the name of glibc's dynamic linker, which
// both libraries ask for.
#define _GNU_SOURCE
#include <locale.h>
#include <stdint.h>
#include <sys/random.h>
#include <time.h>

char __libc_single_threaded = 0;
unsigned __cpu_model[4];

int __cpu_indicator_init(void) { return 0; }

uint32_t arc4random(void) {
  uint32_t value = 0;
  getrandom(&value, sizeof value, 0);
  return value;
}

size_t __strftime_l(char* to, size_t most, const char* format, const struct tm* time,
                    locale_t locale) {
  return strftime_l(to, most, format, time, locale);
}

// Thread-local objects of the program are not destroyed.
int __cxa_thread_atexit_impl(void (*destroy)(void*), void* object, void* library) {
  (void)destroy;
  (void)object;
  (void)library;
  return 0;
}

// The unwinder then finds its tables by dl_iterate_phdr().
int _dl_find_object(void* address, void* result) {
  (void)address;
  (void)result;
  return -1;
}
