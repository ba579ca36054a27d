// syscall() whose renameat2 fails as on ZFS 2.1, while the environment has BOXOFFICE_NO_RENAME.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>

typedef long (*Call)(long, long, long, long, long, long, long);

long syscall(long number, ...) {
  long given[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; ++i) given[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_renameat2 && getenv("BOXOFFICE_NO_RENAME")) {
    errno = EINVAL;
    return -1;
  }
  const Call call = (Call)dlsym(RTLD_NEXT, "syscall");
  return call(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
