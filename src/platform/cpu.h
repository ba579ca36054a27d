// The processor, as far as waiting is concerned.
#pragma once

namespace boxoffice {

/// Tells the core that this is a busy wait: it saves power and lets its other thread run.
inline void cpuRelax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Returns how many threads of this process can run at once, within the limits of taskset or a container. The first
/// call determines the number.
unsigned coreCount() noexcept;

}  // namespace boxoffice
