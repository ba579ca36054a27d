'use strict'
// The systems with prebuilt binaries: the name of a folder in prebuilds/, as lib/addon/find.js requires
// it, and zig's name of the system. Node.js 20 needs glibc 2.28 and macOS 11.
module.exports = {
  'linux-x64': 'x86_64-linux-gnu.2.28',
  'linux-arm64': 'aarch64-linux-gnu.2.28',
  'linux-x64-musl': 'x86_64-linux-musl',
  'linux-arm64-musl': 'aarch64-linux-musl',
  'darwin-x64': 'x86_64-macos.11.0',
  'darwin-arm64': 'aarch64-macos.11.0',
  'win32-x64': 'x86_64-windows-gnu',
  'win32-arm64': 'aarch64-windows-gnu',
}
