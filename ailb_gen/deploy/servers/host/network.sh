# Setting the kernel to the files.

sysctl_files() {
    grep '^etc/sysctl\.d/.*\.conf$' "$dir/paths" || :
}

save_sysctls() {
    sysctl_files | while read -r path; do
        for folder in "$dir/tree" "$dir/backup"; do
            [ ! -f "$folder/$path" ] || sed -n 's/^-\{0,1\}[[:space:]]*\([^#;=[:space:]]*\)[[:space:]]*=.*/\1/p' "$folder/$path"
        done
    done | sort -u | xargs -r sysctl -e -- >"$dir/sysctl"
}

rows() { # an ailb-net script: its tables
    [ ! -f "$1" ] || sed -n "/^ *cat <<'TABLES'\$/,/^TABLES\$/p" "$1" | sed -e '1d' -e '$d'
}

# What a former ailb-net has set and the present one does not know any more.
drop_stale() { # the former script
    present=$(rows /usr/local/sbin/ailb-net)
    rows "$1" | while read -r nic table name priority prefix gateway; do
        ! printf '%s\n' "$present" | grep -Fx "$nic $table $name $priority $prefix $gateway" >/dev/null || continue
        while ip -6 rule del from "$prefix" lookup "$table" priority "$priority" 2>/dev/null; do :; done
        printf '%s\n' "$present" | cut -d' ' -f2 | grep -Fx "$table" >/dev/null ||
            ip -6 route flush table "$table" 2>/dev/null || :
    done
}

attempt() { # command: what it says becomes a warning when it fails
    if said=$(timeout 120 "$@" 2>&1 </dev/null 9>&-); then return 0; fi
    warn "$*: $(printf '%s' "$said" | tail -n 5 | tr '\n' ';')"
    return 1
}

activate() { # folder with the files that were there before
    note "activate: $(way)"
    sysctl_files | while read -r path; do
        [ ! -f "/$path" ] || attempt sysctl -e -q -p "/$path" || :
    done
    ! with_systemd || systemctl daemon-reload
    if [ "$(way)" = netplan ]; then
        attempt netplan apply || return 1
    elif [ -x /usr/local/sbin/ailb-net ]; then
        # A NIC that is missing or down does not keep the others from their tables: verification judges.
        attempt /usr/local/sbin/ailb-net apply || :
        ! with_systemd || ! [ -f /etc/systemd/system/ailb-net.service ] || attempt systemctl --no-block start ailb-net.service || :
    fi
    drop_stale "$1/usr/local/sbin/ailb-net"
    [ ! -x /usr/local/sbin/ailb-qos ] || attempt /usr/local/sbin/ailb-qos || :
}

# The new netplan files together with the host's own, before anything is touched.
check_netplan() {
    if ! with_netplan || ! grep '^etc/netplan/' "$dir/paths" >/dev/null; then return 0; fi
    for folder in lib run etc; do
        mkdir -p "$dir/root/$folder/netplan"
        for file in "/$folder"/netplan/*.yaml; do
            [ ! -f "$file" ] || cp "$file" "$dir/root/$folder/netplan/"
        done
    done
    grep '^etc/netplan/' "$dir/paths" | while read -r path; do
        rm -f "$dir/root/$path"
        [ ! -f "$dir/tree/$path" ] || cp "$dir/tree/$path" "$dir/root/$path"
    done
    if ! said=$(timeout 120 netplan generate --root-dir "$dir/root" 2>&1 </dev/null); then
        die 14 "netplan does not take the files: $(printf '%s' "$said" | tail -n 5 | tr '\n' ' ')"
    fi
    rm -rf "$dir/root"
}
