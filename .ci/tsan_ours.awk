# Prints the reports of ThreadSanitizer that include an access of this library. Without
# instrumentation ThreadSanitizer cannot see how Node orders its own accesses, and reports many of
# them.
BEGIN { RS = "==================\n"; FS = "\n" }
{
  isOurs = 0
  looks = 0
  for (i = 1; i <= NF; i++) {
    if (tolower($i) ~ /^ +(previous )?(atomic )?(write|read) of size/) looks = 1
    else if (looks && $i !~ /libtsan\.so/) {
      if ($i ~ /boxoffice\.node/) isOurs = 1
      looks = 0
    }
  }
  if (isOurs) { print; found = 1 }
}
END { exit found }
