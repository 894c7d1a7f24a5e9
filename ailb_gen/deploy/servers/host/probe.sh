# What is there: nothing here changes anything.

contents() { # names of files on standard input: of those that are there kind and mode, owner, name; then the content
    while read -r path; do
        there "/$path" || continue
        printf '= %s %s\n' "$(stat -c '%f %u %g' -- "/$path")" "$path"
        # Of a file that is too large one byte more than is accepted, and nothing of a device or a pipe.
        if [ -L "/$path" ]; then
            readlink -n -- "/$path"
        elif [ -f "/$path" ]; then
            head -c "$1" -- "/$path"
        fi | base64
    done
}

look() { # most bytes of a file; names of files on standard input; changes nothing
    need base64 head readlink stat
    wanted=$(cat)
    echo '== before'
    [ ! -L "$base/current" ] || cat "$base/current/wanted"
    echo '== files'
    {
        printf '%s\n' "$wanted"
        [ ! -L "$base/current" ] || cut -d' ' -f2 "$base/current/wanted"
    } | sort -u | sed '/^$/d' | contents "$1"
    echo '== end'
}

reach() { # NIC, prefix, gateway: from the host's own address in the prefix
    source=$(ip -6 -o addr show dev "$1" scope global -tentative -dadfailed to "$2" 2>/dev/null |
        sed -n '1s/.* inet6 \([^/ ]*\).*/\1/p')
    answer=no
    [ -z "$source" ] || ! ping -6 -n -q -c 3 -i 0.3 -W 1 -I "$source" "$3" >/dev/null 2>&1 || answer=yes
    printf '%s %s %s %s %s\n' "$1" "$2" "$3" "${source:--}" "$answer"
}

hardware() { # NIC: its speed, driver and firmware, - for what is not known; virtual interfaces have none
    speed=- driver=- firmware=-
    if [ -e "/sys/class/net/$1/device" ]; then
        speed=$(cat "/sys/class/net/$1/speed" 2>/dev/null) || speed=-
        driver=$(basename "$(readlink "/sys/class/net/$1/device/driver")")
        firmware=$(cat "/sys/class/net/$1/device/infiniband/"*/fw_ver 2>/dev/null | head -n 1)
        [ -n "$firmware" ] || firmware=$(timeout 5 ethtool -i "$1" 2>/dev/null | sed -n 's/^firmware-version: //p')
    fi
    printf '%s %s %s %s\n' "$1" "${speed:--}" "${driver:--}" "${firmware:--}"
}

functions() { # virtual functions of NICs
    for path in /sys/class/net/*/device/physfn; do
        nic=${path#/sys/class/net/}
        [ ! -e "$path" ] || echo "${nic%%/*}"
    done
}

plug_in() { # the file of NCCL's plug-in, directories with colons between
    echo "rdma $(find /sys/class/infiniband -mindepth 1 2>/dev/null | wc -l)"
    path=$(
        {
            printf '%s\n' "${2:-}" | tr : '\n' | sed "s|\$|/$1|"
            ldconfig -p 2>/dev/null | sed -n 's/.* => //p' | grep -F "/$1"
        } | while read -r file; do
            [ "${file##*/}" != "$1" ] || [ ! -f "$file" ] || { echo "$file" && break; }
        done
    )
    [ -n "$path" ] || return 0
    echo "path $path"
    timeout 20 sha256sum <"$path" | sed 's/^/digest /; s/ *-$//'
    if told=$(LD_LIBRARY_PATH=${2:-} timeout 10 ldd "$path" 2>&1); then
        printf '%s\n' "$told" | sed -n 's/^[[:space:]]*\(.*\) => not found.*/missing \1/p'
    else
        echo "missing anything that the loader can read (ldd: $(printf '%s\n' "$told" | sed -n 's/^[[:space:]]*//; $p'))"
    fi
}

# Variables that the host sets for everybody, or NCCL reads for root.
assignments() {
    set -- /etc/environment /etc/profile.d/* /etc/nccl.conf ~root/.nccl.conf
    grep -asnHE '^[[:space:]]*(export[[:space:]]+)?(NCCL|UCX)_[A-Z0-9_]+=' -- "$@" | cut -c 1-500 | head -n 1000
}

report() { # seconds, command: what it says on standard error, then its exit code
    code=0
    said=$(timeout "$@" 2>&1 >/dev/null </dev/null) || code=$?
    [ -z "$said" ] || printf '%s\n' "$said" | cut -c 1-500 | head -n 1000
    echo "exit $code"
}

# How the NICs differ from what `ailb-qos` sets. Before it had verbs, it set them whatever it was told.
roce() {
    if grep -q '^verify() {' /usr/local/sbin/ailb-qos 2>/dev/null; then
        report 60 /usr/local/sbin/ailb-qos verify
    elif [ -e /usr/local/sbin/ailb-qos ]; then
        echo 'ailb-qos: it is of an older version, and cannot verify; generate and push the files again'
        echo 'exit 1'
    else
        echo 'exit 0'
    fi
}

# How the GID tables differ from the plan, where there are some.
gids() {
    if [ -x /usr/local/sbin/ailb-host ] && [ -n "$(ls /sys/class/infiniband 2>/dev/null)" ]; then
        report 20 /usr/local/sbin/ailb-host gids
    else
        echo 'exit 0'
    fi
}

# On standard input: file PATH, sysctl KEY, nic NAME, library NAME DIRECTORIES, ping NIC PREFIX GATEWAY
probe() { # most bytes of a file; changes nothing
    need base64 head ip ping readlink stat sysctl
    asked=$(cat)
    echo "== way"
    way
    echo '== files'
    printf '%s\n' "$asked" | sed -n 's/^file //p' | contents "$1"
    for what in link addr rule route; do
        echo "== $what"
        case $what in
        route) ip -j -6 -N route show table all ;;
        rule) ip -j -6 -N rule show ;;
        addr) ip -j addr show ;;
        *) ip -j -6 "$what" show ;;
        esac
        echo
    done
    echo '== sysctl'
    printf '%s\n' "$asked" | sed -n 's/^sysctl //p' | xargs -r sysctl -e -- 2>/dev/null || :
    echo '== nic'
    printf '%s\n' "$asked" | sed -n 's/^nic //p' | while read -r nic; do hardware "$nic"; done
    echo '== functions'
    functions
    echo '== plugin'
    printf '%s\n' "$asked" | sed -n 's/^library //p' | while read -r name folders; do plug_in "$name" "$folders"; done
    echo '== environment'
    assignments || :
    echo '== qos'
    roce
    echo '== gids'
    gids
    echo '== ping'
    printf '%s\n' "$asked" | sed -n 's/^ping //p' | {
        count=0
        while read -r nic prefix gateway; do
            reach "$nic" "$prefix" "$gateway" </dev/null &
            count=$((count + 1))
            [ $((count % 64)) != 0 ] || wait
        done
        wait
    }
    echo '== end'
}
