// getrandom() that fails while the environment has BOXOFFICE_NO_RANDOM.
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t getrandom(void* to, size_t count, unsigned flags) {
  if (getenv("BOXOFFICE_NO_RANDOM")) {
    errno = ENOSYS;
    return -1;
  }
  return syscall(SYS_getrandom, to, count, flags);
}
