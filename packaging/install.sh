#!/bin/sh
# Installs a built binary with its manual page, completion and systemd unit: install.sh BINARY [PREFIX], below DESTDIR.
set -eu
binary=$1 prefix=${2:-/usr/local} root=${DESTDIR:-}
here=$(dirname "$0")
install -D -m 755 "$binary" "$root$prefix/bin/fairlead"
strip --strip-unneeded "$root$prefix/bin/fairlead"
install -d "$root$prefix/share/man/man1"
python3 "$here/manual.py" "$binary" | gzip -9n >"$root$prefix/share/man/man1/fairlead.1.gz"
install -D -m 644 "$here/fairlead.bash-completion" "$root$prefix/share/bash-completion/completions/fairlead"
install -D -m 644 "$here/../LICENSE" "$root$prefix/share/doc/fairlead/copyright"
install -d "$root$prefix/lib/systemd/system"
sed "s#PREFIX#$prefix#" "$here/fairlead.service" >"$root$prefix/lib/systemd/system/fairlead.service"
