// Access lists: this user, the system and its administrators may use a file.
#include <aclapi.h>
#include <sddl.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "platform/windows_files.h"

namespace boxoffice::platform {
namespace {

struct FreeLocal {
  void operator()(void* memory) const noexcept { LocalFree(memory); }
};

using Bytes = std::vector<std::byte>;

/// What the token of this process says.
Bytes factsOfToken(TOKEN_INFORMATION_CLASS which) {
  HANDLE token = nullptr;
  if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) refused("the user", "looked up");
  const File open = fileOf(token);
  DWORD size = 0;
  GetTokenInformation(token, which, nullptr, 0, &size);
  Bytes facts(size);
  if (!GetTokenInformation(token, which, facts.data(), size, &size))
    refused("the user", "looked up");
  return facts;
}

/// The user of this process, and the owner of what it makes, which may be the group of the administrators.
class User {
 public:
  User() : user_(factsOfToken(TokenUser)), owner_(factsOfToken(TokenOwner)) {
    wchar_t* text = nullptr;
    if (!ConvertSidToStringSidW(user(), &text)) refused("the user", "looked up");
    const std::unique_ptr<wchar_t, FreeLocal> name(text);
    const std::wstring rights = L"D:P(A;OICI;GA;;;" + std::wstring(text) + L")(A;OICI;GA;;;SY)";
    PSECURITY_DESCRIPTOR made = nullptr;
    if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(rights.c_str(), SDDL_REVISION_1,
                                                              &made, nullptr)) {
      refused("the user", "looked up");
    }
    attributes_ = {sizeof attributes_, made, FALSE};
  }

  PSID user() const noexcept { return reinterpret_cast<const TOKEN_USER*>(user_.data())->User.Sid; }
  PSID owner() const noexcept { return reinterpret_cast<const TOKEN_OWNER*>(owner_.data())->Owner; }
  SECURITY_ATTRIBUTES* attributes() noexcept { return &attributes_; }

 private:
  Bytes user_;
  Bytes owner_;
  SECURITY_ATTRIBUTES attributes_;  // as long as the process lives
};

User& self() {
  static User user;
  return user;
}

/// Whether this is the user of the process, or an account that has all rights anyway.
bool isTrusted(PSID sid) {
  constexpr WELL_KNOWN_SID_TYPE kTrusted[] = {WinLocalSystemSid, WinBuiltinAdministratorsSid,
                                              WinCreatorOwnerSid, WinCreatorOwnerRightsSid};
  return EqualSid(sid, self().user()) || EqualSid(sid, self().owner()) ||
         std::any_of(std::begin(kTrusted), std::end(kTrusted),
                     [sid](WELL_KNOWN_SID_TYPE type) { return IsWellKnownSid(sid, type); });
}

/// Whether the list gives another user any of these rights.
bool isOpenToOthers(PACL list, DWORD rights) {
  if (!list) return true;
  for (DWORD i = 0; i < list->AceCount; ++i) {
    void* entry = nullptr;
    if (!GetAce(list, i, &entry)) return true;
    const auto* const ace = static_cast<const ACCESS_ALLOWED_ACE*>(entry);
    const BYTE type = ace->Header.AceType;
    if (type == ACCESS_DENIED_ACE_TYPE || (ace->Header.AceFlags & INHERIT_ONLY_ACE) != 0) continue;
    // Treat entries with conditions, and other kinds of entries, as open.
    if (type != ACCESS_ALLOWED_ACE_TYPE && (ace->Mask & rights) != 0) return true;
    if ((ace->Mask & rights) == 0 || isTrusted(const_cast<DWORD*>(&ace->SidStart))) continue;
    return true;
  }
  return false;
}

}  // namespace

SECURITY_ATTRIBUTES* ownAttributes() { return self().attributes(); }

void letUserWait() noexcept {
  try {
    PACL list = nullptr;
    PSECURITY_DESCRIPTOR held = nullptr;
    if (GetSecurityInfo(GetCurrentProcess(), SE_KERNEL_OBJECT, DACL_SECURITY_INFORMATION, nullptr,
                        nullptr, &list, nullptr, &held) != ERROR_SUCCESS) {
      return;
    }
    const std::unique_ptr<void, FreeLocal> descriptor(held);
    EXPLICIT_ACCESSW entry = {};
    entry.grfAccessPermissions = SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION;
    entry.grfAccessMode = GRANT_ACCESS;
    entry.Trustee.TrusteeForm = TRUSTEE_IS_SID;
    entry.Trustee.ptstrName = static_cast<wchar_t*>(self().user());
    PACL longer = nullptr;
    if (SetEntriesInAclW(1, &entry, list, &longer) != ERROR_SUCCESS) return;
    const std::unique_ptr<void, FreeLocal> made(longer);
    SetSecurityInfo(GetCurrentProcess(), SE_KERNEL_OBJECT, DACL_SECURITY_INFORMATION, nullptr,
                    nullptr, longer, nullptr);
  } catch (const std::exception&) {
    // Then other processes may not wait for this one, and look again after a while.
  }
}

void checkOwner(const File& file, DWORD rights, const std::string& path) {
  DWORD size = 0;
  constexpr SECURITY_INFORMATION kWanted = OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION;
  GetKernelObjectSecurity(handleOf(file), kWanted, nullptr, 0, &size);
  Bytes facts(size);
  PSID owner = nullptr;
  PACL list = nullptr;
  BOOL has = FALSE;
  BOOL isDefault = FALSE;
  if (!GetKernelObjectSecurity(handleOf(file), kWanted, facts.data(), size, &size) ||
      !GetSecurityDescriptorOwner(facts.data(), &owner, &isDefault) ||
      !GetSecurityDescriptorDacl(facts.data(), &has, &list, &isDefault)) {
    refused(path, "looked at");
  }
  if (!owner || !isTrusted(owner)) {
    fail(path, "belongs to another user than this process; choose another directory");
  }
  if (!has || isOpenToOthers(list, rights)) {
    fail(path,
         "is open to other users; choose a directory inside it, or, if it has no other use, take "
         "their "
         "rights away (icacls)");
  }
}

}  // namespace boxoffice::platform
