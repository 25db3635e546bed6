#!/usr/bin/env bash
# Makes the root file system of an image: a folder with a program, the libraries that it needs, and nothing else.
#
#   deploy/image/rootfs.sh PROGRAM FOLDER           the control plane: fairlead, and fairlead-templates beside it
#   deploy/image/rootfs.sh PROGRAM FOLDER ENVOY     the proxy: the agent, Envoy, and iptables for its init container
#
# deploy/image/Dockerfile takes the folder; so does a runtime that starts containers out of folders. The folder is made anew.
set -euo pipefail
program=${1:?PROGRAM} root=${2:?FOLDER} envoy=${3:-}

# A file at its place, with the libraries that it names.
add() {
  local from=$1 to=$2 library
  install -D -m 0755 "$from" "$root$to"
  { ldd "$from" 2>/dev/null || true; } | sed -nE 's/.* => (\/[^ ]+) .*/\1/p; s/^[[:space:]]*(\/[^ ]+) .*/\1/p' | while read -r library; do
    [ -e "$root$library" ] || install -D -m 0755 "$library" "$root$library"
  done
}

rm -rf "$root"
mkdir -p "$root"/{etc/ssl/certs,tmp,var/lib,var/run,usr/local/bin}
# As Debian has it: libraries have one place by two names.
for name in bin lib lib64 sbin; do
  mkdir -p "$root/usr/$name"
  ln -s "usr/$name" "$root/$name"
done
chmod 1777 "$root/tmp"
add "$program" /usr/local/bin/fairlead
# Names are looked up by libraries that no program names.
for library in libnss_dns.so.2 libnss_files.so.2 libresolv.so.2; do
  path=$(ldconfig -p | sed -nE "s/.*$library .* => (.*)/\1/p" | head -n 1)
  [ -z "$path" ] || install -D -m 0755 "$path" "$root$path"
done
# The roots of public authorities, for servers of keys and modules.
[ ! -f /etc/ssl/certs/ca-certificates.crt ] || install -m 0644 /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
printf 'root:x:0:0::/:/sbin/nologin\nfairlead:x:1337:1337::/var/lib/fairlead:/sbin/nologin\n' >"$root/etc/passwd"
printf 'root:x:0:\nfairlead:x:1337:\n' >"$root/etc/group"
printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"
if [ -z "$envoy" ]; then
  add "$(dirname "$program")/fairlead-templates" /usr/local/bin/fairlead-templates
  mkdir -p "$root/var/lib/fairlead"
else
  ln -s fairlead "$root/usr/local/bin/pilot-agent"
  add "$envoy" /usr/local/bin/envoy
  for name in xtables-nft-multi xtables-legacy-multi ip; do
    tool=$(PATH=$PATH:/usr/sbin:/sbin command -v "$name" || true)
    [ -z "$tool" ] || add "$(readlink -f "$tool")" "/usr/sbin/$name"
  done
  for name in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
    [ ! -e "$root/usr/sbin/xtables-nft-multi" ] || ln -s xtables-nft-multi "$root/usr/sbin/$name"
  done
  modules=$(dirname "$(ldconfig -p | sed -nE 's/.*libxtables.so.12 .* => (.*)/\1/p' | head -n 1)")/xtables
  [ ! -d "$modules" ] || { mkdir -p "$root$modules" && cp "$modules"/*.so "$root$modules/"; }
  mkdir -p "$root"/{etc/istio/proxy,var/lib/istio/data}
fi
du -sh "$root" | sed 's/\t.*/ in all/'
