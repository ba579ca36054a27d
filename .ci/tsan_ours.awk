# The reports of ThreadSanitizer in which an access of ours takes part. Without instrumentation it
# cannot see how Node orders its own accesses, and reports many of them: those are not ours.
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
