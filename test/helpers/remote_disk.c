// fstatfs() that says NFS, while the environment has BOXOFFICE_REMOTE_DISK.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

int fstatfs(int file, struct statfs* facts) {
  const int result = syscall(SYS_fstatfs, file, facts);
  if (getenv("BOXOFFICE_REMOTE_DISK")) facts->f_type = 0x6969;
  return result;
}

int fstatfs64(int file, struct statfs64* facts) { return fstatfs(file, (struct statfs*)facts); }
