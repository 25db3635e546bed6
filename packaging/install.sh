#!/bin/sh
# Installs a built binary with its manual page, completion, systemd units and their settings: install.sh BINARY [PREFIX],
# below DESTDIR. Settings that are there already stay as they are.
set -eu
binary=$1 prefix=${2:-/usr/local} root=${DESTDIR:-}
here=$(dirname "$0")
install -D -m 755 "$binary" "$root$prefix/bin/fairlead"
strip --strip-unneeded "$root$prefix/bin/fairlead"
# Runs the templates of injection; whoever injects nothing needs it not.
[ ! -e "$(dirname "$binary")/fairlead-templates" ] ||
  install -D -m 755 "$(dirname "$binary")/fairlead-templates" "$root$prefix/bin/fairlead-templates"
install -d "$root$prefix/share/man/man1"
python3 "$here/manual.py" "$binary" | gzip -9n >"$root$prefix/share/man/man1/fairlead.1.gz"
install -D -m 644 "$here/fairlead.bash-completion" "$root$prefix/share/bash-completion/completions/fairlead"
install -D -m 644 "$here/../LICENSE" "$root$prefix/share/doc/fairlead/copyright"
install -d "$root$prefix/lib/systemd/system" "$root/etc/fairlead/mesh" "$root/etc/fairlead/agent"
for unit in fairlead fairlead-agent; do
  sed "s#PREFIX#$prefix#" "$here/$unit.service" >"$root$prefix/lib/systemd/system/$unit.service"
  settings=$root/etc/default/$unit
  [ -e "$settings" ] || install -D -m 644 "$here/$unit.default" "$settings"
done
for file in mesh.yaml networks.yaml; do
  [ -e "$root/etc/fairlead/$file" ] || install -m 644 "$here/$file" "$root/etc/fairlead/$file"
done
install -D -m 644 "$here/fairlead.sysusers" "$root$prefix/lib/sysusers.d/fairlead.conf"
