# What the sender, the watchdog and the boot call.

apply() { # run, seconds, digest, always|changed
    need base64 cmp cut flock ip sha256sum setsid stat sync sysctl tar timeout xargs
    lock 30
    heal
    [ ! -L "$base/pending" ] || die 10 "run $(name_of "$base/pending") is neither confirmed nor restored"
    use "$1"
    case $(state) in
    unknown) rm -rf "$dir" ;;
    restored) die 12 "run $run was restored before it arrived" ;;
    *) die 14 "run $run is there already: $(state)" ;;
    esac
    mkdir "$dir"
    trap undo EXIT
    trap 'exit 143' INT TERM
    unpack "$3"
    save
    check_netplan
    # In this order: an armed run is always the pending one.
    arm "$2"
    mark armed
    if [ "$4" = always ] || differs; then
        stage_new
        sync_all
        link yes "$dir/touched"
        mark moving
        move "$dir/tree" ailb-new
        sync_all
        activate "$dir/backup"
    fi
    mark applied
}

confirm() { # run
    lock 30
    heal
    use "$1"
    case $(state) in
    confirmed) ;;
    applied)
        mark confirmed
        finish
        ;;
    *) die 12 "run $run cannot be confirmed: $(state)" ;;
    esac
}

restore() { # run
    lock 30
    trap 'exit 16' EXIT
    heal
    use "$1"
    case $(state) in
    restored) ;;
    unknown)
        # It may still be on its way: it will find that it comes too late.
        mkdir -p "$dir"
        mark restored
        ;;
    confirmed)
        if [ -L "$base/pending" ]; then
            trap - EXIT
            die 10 "run $(name_of "$base/pending") is neither confirmed nor restored"
        elif [ "$(name_of "$base/current")" != "$run" ]; then
            trap - EXIT
            die 14 "run $run is not the last one that was confirmed: $(name_of "$base/current") is"
        fi
        arm 60
        bring_back
        ;;
    *) bring_back ;;
    esac
    trap - EXIT
}

expire() { # run: the watchdog's
    lock 3600
    if [ "$(name_of "$base/pending")" = "$1" ]; then settle; fi
}

watch() { # run: the watchdog where no systemd runs
    use "$1"
    while [ -f "$dir/deadline" ]; do
        if [ "$(remaining)" = 0 ]; then
            expire "$1"
            return 0
        fi
        sleep 1
    done
}

boot() {
    lock 3600
    booting=yes
    if there "$base/pending"; then settle; fi
}

quoted() { # text, or null when it is empty
    if [ -n "$1" ]; then printf '"%s"' "$1"; else printf null; fi
}

status() { # run, or -; seconds to wait for a call that is under way
    busy=false asked='' pending='' pending_state='' left=0
    if [ -d "$base" ]; then
        if [ -f "$base/lock" ]; then
            exec 9<"$base/lock"
            flock -w "$2" 9 || busy=true
        fi
        if [ -L "$base/pending" ]; then
            pending=$(name_of "$base/pending")
            use "$pending"
            pending_state=$(state) left=$(remaining)
        fi
        use "$1"
        [ "$1" = - ] || asked=$(state)
    fi
    printf '{"run": %s, "pending": %s, "pending_state": %s, "remaining": %d, "current": %s, "busy": %s, "way": "%s"}\n' \
        "$(quoted "$asked")" "$(quoted "$pending")" "$(quoted "$pending_state")" "$left" \
        "$(quoted "$(name_of "$base/current")")" "$busy" "$(way)"
}

main() { # verb and its arguments; runs are named with letters, digits, dots and dashes
    trap '' HUP PIPE
    verb=$1
    shift
    case ${1:-} in *[!A-Za-z0-9.-]* | .*) die 14 "not the name of a run: $1" ;; esac
    case $verb in
    apply | confirm | restore | expire | watch | boot | status | look | probe) "$verb" "$@" ;;
    *) die 14 "unknown verb: $verb" ;;
    esac
}
