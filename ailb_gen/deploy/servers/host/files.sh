# Files in, and back: what needs space or can fail comes before the first change.

unpack() { # digest of the list of files; the data is on standard input
    base64 -d | tar -xp -C "$dir" -f - || die 14 "the files did not arrive whole"
    [ "$(sha256sum <"$dir/wanted" | cut -d' ' -f1)" = "$1" ] || die 14 "the list of files did not arrive whole"
    while read -r sum path; do
        if [ -L "$dir/tree/$path" ]; then readlink -n "$dir/tree/$path"; else cat "$dir/tree/$path"; fi |
            sha256sum | grep -F "$sum " >/dev/null || die 14 "$path did not arrive whole"
    done <"$dir/wanted"
}

save() {
    {
        if [ -L "$base/current" ]; then cut -d' ' -f2 "$base/current/wanted"; fi
        cut -d' ' -f2 "$dir/wanted"
    } | sort -u | while read -r path; do
        # Netplan's file is the one that uses the others: last in, so that a crash leaves no reference to nothing.
        case $path in etc/netplan/*) echo "2 $path" ;; *) echo "1 $path" ;; esac
    done | sort | cut -d' ' -f2 >"$dir/paths"
    while read -r path; do
        there "/$path" || continue
        [ -L "/$path" ] || [ -f "/$path" ] || die 14 "/$path is neither a file nor a link on this host"
        mkdir -p "$dir/backup/${path%/*}"
        cp -a -- "/$path" "$dir/backup/$path"
    done <"$dir/paths"
    [ ! -L "$base/current" ] || ln -s "$(readlink "$base/current")" "$dir/previous"
    save_sysctls
}

differs() {
    while read -r path; do
        if there "$dir/tree/$path"; then alike "$dir/tree/$path" "/$path" || return 0; else ! there "/$path" || return 0; fi
    done <"$dir/paths"
    return 1
}

stage_new() { # everything that needs space comes before the first change
    while read -r path; do
        if ! there "$dir/tree/$path" || alike "$dir/tree/$path" "/$path"; then continue; fi
        make_folder "${path%/*}"
        note "stage $path"
        # Without the security context of the run's folder: the file gets that of its place.
        cp -d --preserve=mode,ownership -- "$dir/tree/$path" "$(beside "$path" ailb-new)"
    done <"$dir/paths"
    while read -r path; do
        if ! there "/$path" || alike "$dir/tree/$path" "/$path"; then continue; fi
        note "keep $path"
        ln -fP -- "/$path" "$(beside "$path" ailb-old)"
    done <"$dir/paths"
}

stage_old() {
    while read -r path; do
        if ! there "$dir/backup/$path" || alike "$dir/backup/$path" "/$path"; then continue; fi
        old=$(beside "$path" ailb-old)
        if alike "$dir/backup/$path" "$old"; then continue; fi
        make_folder "${path%/*}"
        note "stage back $path"
        rm -f -- "$old"
        cp -a -- "$dir/backup/$path" "$old"
    done <"$dir/paths"
}

move() { # folder with the wanted files, suffix
    while read -r path; do
        if ! there "$1/$path"; then
            ! there "/$path" || { note "remove $path" && rm -f -- "/$path"; }
        elif ! alike "$1/$path" "/$path"; then
            note "move $path"
            # mv takes a link and what it leads to for one file, and refuses.
            if [ -L "$(beside "$path" "$2")" ]; then rm -f -- "/$path"; fi
            mv -fT -- "$(beside "$path" "$2")" "/$path"
        fi
    done <"$dir/paths"
}

bring_back() { # idempotent: called again after whatever has happened to the call before
    say "run $run: restoring the old files"
    mark restoring
    stage_old
    move "$dir/backup" ailb-old
    while read -r path; do rm -f "$(beside "$path" ailb-new)"; done <"$dir/paths"
    sync_all
    if [ -L "$dir/touched" ] && [ "${booting:-no}" = no ]; then
        activate "$dir/tree" || warn "the old files are back, but the network was not set to them"
        [ ! -f "$dir/sysctl" ] || attempt sysctl -e -q -p "$dir/sysctl" || :
    elif [ -L "$dir/touched" ]; then
        # At boot: nothing of the network has started yet, and jobs of systemd must not wait for each other.
        [ "$(way)" != netplan ] || attempt netplan generate || :
        ! with_systemd || attempt systemctl daemon-reload || :
    fi
    mark restored
    finish
}

undo() { # an apply that failed or was told to stop
    failed=$?
    trap - EXIT
    [ "$failed" != 0 ] || exit 0
    if ! there "$base/pending"; then # and it is not armed: the files were not touched
        rm -rf "$dir"
        case $failed in 14 | 15) exit "$failed" ;; *) exit 13 ;; esac
    fi
    trap 'exit 16' EXIT
    bring_back
    trap - EXIT
    exit 13
}
