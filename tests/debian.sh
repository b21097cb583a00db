#!/usr/bin/env bash
# To be sourced, for trying the course elsewhere: packages of a suite of Debian, fetched by apt and unpacked in a folder.
# Nothing is installed, and the machine's own lists of packages stay as they are.
#   unpack_debian SUITE ARCHITECTURE FOLDER PACKAGE...     into FOLDER, unless just these packages lie there
#   copy_course FOLDER     the course as it is here, without what was built
# The address is the one that this machine's apt has for Debian, or DEBIAN_MIRROR.

debian_mirror() {
    [[ -z ${DEBIAN_MIRROR:-} ]] || { echo "$DEBIAN_MIRROR" && return; }
    # shellcheck disable=SC2016  # apt's own names
    apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 2>/dev/null | sed -n 's/^Debian //p' | grep -vm1 security ||
        { echo "this machine's apt knows no Debian; DEBIAN_MIRROR= names an address of its packages" >&2 && return 1; }
}

# An apt of its own: it believes that nothing is installed.
own_apt() { # suite, architecture: prints its configuration's file
    local state mirror
    state=$PWD/build/debian/$1-$2
    mirror=$(debian_mirror) || return
    mkdir -p "$state"/{lists,archives}/partial
    : >"$state/status"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $1 main contrib non-free" >"$state/sources"
    cat >"$state/apt.conf" <<-END
		APT::Architecture "$2";
		APT::Architectures { "$2"; };
		APT::Sandbox::User "root";
		Dir::State::Lists "$state/lists";
		Dir::State::status "$state/status";
		Dir::Cache "$state";
		Dir::Etc::SourceList "$state/sources";
		Dir::Etc::SourceParts "/dev/null";
		Dir::Etc::PreferencesParts "/dev/null";
	END
    [[ -n $(find "$state/lists" -name '*_Packages*' -mmin -1440) ]] ||
        APT_CONFIG=$state/apt.conf apt-get -qq update >&2 || return
    echo "$state/apt.conf"
}

unpack_debian() { # suite, architecture, folder, packages
    local suite=$1 architecture=$2 folder=$3 configuration work deb
    shift 3
    [[ $(cat "$folder/packages" 2>/dev/null) != "$suite $*" ]] || return 0
    configuration=$(own_apt "$suite" "$architecture") || return
    work=$folder.debs
    mkdir -p "$folder" "$work" || return
    (cd "$work" && APT_CONFIG=$configuration apt-get -qq download "$@" >&2) || return
    # Static libraries are most of a toolkit, and nothing here is linked with them.
    for deb in "$work"/*.deb; do
        dpkg-deb --fsys-tarfile "$deb" | tar -xC "$folder" --exclude='*_static*.a' || return
    done
    rm -rf "$work"
    echo "$suite $*" >"$folder/packages"
}

copy_course() { # folder
    mkdir -p "$1" && find "$1" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} + &&
        git ls-files -z --cached --others --exclude-standard -- . ':!build' | xargs -0 tar -c | tar -xC "$1"
}
