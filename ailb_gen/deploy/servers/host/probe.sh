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

probe() { # most bytes of a file; on standard input: file PATH, sysctl KEY, ping NIC PREFIX GATEWAY; changes nothing
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
        *) ip -j -6 "$what" show ;;
        esac
        echo
    done
    echo '== sysctl'
    printf '%s\n' "$asked" | sed -n 's/^sysctl //p' | xargs -r sysctl -e -- 2>/dev/null || :
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
