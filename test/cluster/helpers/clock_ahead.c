// Preloaded into a server, to set its clock while it runs: replaces the functions of the kernel that tell the time (the
// vDSO) by ones that add the first number of the file BOXOFFICE_CLOCK, in seconds. The second number counts the
// answers that this has changed. libfaketime replaces libc's functions: etcd does not call them, and Redis does not
// start with it, because jemalloc asks for the time before libfaketime is ready.
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

static volatile long* shared;

static long kernel(long number, long first, void* second) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(first), "S"(second)
                   : "rcx", "r11", "memory");
  return result;
}

static long ahead(void) {
  if (shared[0] != 0) shared[1]++;
  return shared[0];
}

static int get_clock(clockid_t clock, struct timespec* now) {
  const int result = (int)kernel(SYS_clock_gettime, clock, now);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += ahead();
  return result;
}

static int get_time_of_day(struct timeval* now, void* zone) {
  const int result = (int)kernel(SYS_gettimeofday, (long)now, zone);
  if (now != NULL) now->tv_sec += ahead();
  return result;
}

static time_t get_time(time_t* now) {
  const time_t result = kernel(SYS_time, 0, NULL) + ahead();
  if (now != NULL) *now = result;
  return result;
}

// Writes a jump to `function` over the code at `place`.
static void replace(unsigned char* place, void* function) {
  unsigned char jump[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
  memcpy(jump + 2, &function, sizeof function);
  memcpy(place, jump, sizeof jump);
}

__attribute__((constructor)) static void begin(void) {
  const int file = open(getenv("BOXOFFICE_CLOCK"), O_RDWR);
  shared = mmap(NULL, 2 * sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  unsigned char* const base = (unsigned char*)getauxval(AT_SYSINFO_EHDR);
  const Elf64_Ehdr* const header = (const Elf64_Ehdr*)base;
  const Elf64_Phdr* const parts = (const Elf64_Phdr*)(base + header->e_phoff);
  const Elf64_Dyn* dynamic = NULL;
  for (int i = 0; i < header->e_phnum; i++) {
    if (parts[i].p_type == PT_DYNAMIC) dynamic = (const Elf64_Dyn*)(base + parts[i].p_offset);
  }
  const Elf64_Sym* symbols = NULL;
  const char* names = NULL;
  const Elf64_Word* hashes = NULL;
  for (; dynamic->d_tag != DT_NULL; dynamic++) {
    unsigned char* const place = base + dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_SYMTAB) symbols = (const Elf64_Sym*)place;
    if (dynamic->d_tag == DT_STRTAB) names = (const char*)place;
    if (dynamic->d_tag == DT_HASH) hashes = (const Elf64_Word*)place;
  }
  mprotect(base, 2 * 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
  for (Elf64_Word i = 0; i < hashes[1]; i++) {
    const char* const name = names + symbols[i].st_name;
    unsigned char* const place = base + symbols[i].st_value;
    if (strcmp(name, "__vdso_clock_gettime") == 0) replace(place, (void*)get_clock);
    if (strcmp(name, "__vdso_gettimeofday") == 0) replace(place, (void*)get_time_of_day);
    if (strcmp(name, "__vdso_time") == 0) replace(place, (void*)get_time);
  }
}
