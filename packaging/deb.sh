#!/bin/sh
# Makes a Debian package of a built binary: deb.sh BINARY FOLDER prints the path of the package in FOLDER.
set -eu
binary=$(readlink -f "$1") folder=$(readlink -f "$2")
here=$(readlink -f "$(dirname "$0")")
version=$("$binary" --version | cut -d' ' -f2) architecture=$(dpkg --print-architecture)
root=$(mktemp -d) && trap 'rm -rf "$root"' EXIT
mkdir -p "$root/tree/DEBIAN" "$root/debian"
install -m 755 "$here/debian/postinst" "$here/debian/prerm" "$here/debian/postrm" "$root/tree/DEBIAN"
install -m 644 "$here/debian/conffiles" "$root/tree/DEBIAN/conffiles"
DESTDIR="$root/tree" sh "$here/install.sh" "$binary" /usr
: >"$root/debian/control"
depends=$(cd "$root" && dpkg-shlibdeps -O --ignore-missing-info tree/usr/bin/fairlead 2>/dev/null | sed 's/^shlibs:Depends=//')
cat >"$root/tree/DEBIAN/control" <<END
Package: fairlead
Version: $version
Architecture: $architecture
Section: net
Priority: optional
Maintainer: The Fairlead developers <fairlead@localhost>
Depends: $depends
Description: service-mesh control plane
 Reads Istio's, Kubernetes' and the Gateway API's configuration and keeps
 Envoy proxies configured over xDS.
END
package=$folder/fairlead_${version}_$architecture.deb
dpkg-deb --root-owner-group --build -Zgzip "$root/tree" "$package" >/dev/null
echo "$package"
