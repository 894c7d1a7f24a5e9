# Who watches a run, and what is left of it in the end.

arm() { # seconds: from here on somebody restores the run when nobody else does
    echo "$(cat /proc/sys/kernel/random/boot_id) $(($(uptime_s) + $1))" >"$dir/deadline"
    # First the watchdog, then the link that makes the run pending: no pending run is ever without one.
    if with_systemd; then
        systemd-run --quiet --collect --unit="ailb-gen-$run" --on-active="${1}s" --timer-property=AccuracySec=1s \
            /bin/sh "$dir/agent" expire "$run"
        boot_unit_text >"$boot_unit.new"
        chmod 644 "$boot_unit.new"
        mv -f "$boot_unit.new" "$boot_unit"
        make_folder "${boot_link_folder#/}"
        link "$boot_unit" "$boot_link"
    else
        setsid /bin/sh "$dir/agent" watch "$run" </dev/null >/dev/null 2>&1 9>&- &
    fi
    sync_all
    link "runs/$run" "$base/pending"
    sync_all
    note "armed for $1 s"
}

boot_unit_text() {
    cat <<UNIT
[Unit]
Description=Restore the network files of a push that was not confirmed (ailb-gen)
ConditionPathExists=$base/pending
DefaultDependencies=no
RequiresMountsFor=$base /etc /usr/local
After=local-fs.target
Before=systemd-sysctl.service network-pre.target systemd-networkd.service shutdown.target
Wants=network-pre.target
Conflicts=shutdown.target

[Service]
Type=oneshot
ExecStart=/bin/sh $base/pending/agent boot
UNIT
}

sync_all() {
    sync -f "$base" /etc /usr/local
}

finish() { # a run that is confirmed or restored: take away what served it
    while read -r path; do
        rm -f "$(beside "$path" ailb-new)" "$(beside "$path" ailb-old)"
    done <"$dir/paths"
    if [ "$(state)" = confirmed ]; then
        link "runs/$run" "$base/current"
    elif [ "$(name_of "$base/current")" = "$run" ]; then
        if [ -L "$dir/previous" ]; then link "$(readlink "$dir/previous")" "$base/current"; else rm "$base/current"; fi
    fi
    sync_all
    rm -rf "$dir/root"
    rm -f "$boot_link" "$boot_unit" "$dir/deadline"
    if [ -f "$dir/folders" ]; then # made for files that are gone again
        sort -r "$dir/folders" | while read -r folder; do rmdir "/$folder" 2>/dev/null || :; done
    fi
    rm -f "$base/pending"
    if with_systemd; then systemctl --quiet stop "ailb-gen-$run.timer" 2>/dev/null || :; fi
    prune
}

prune() { # the oldest runs; what is confirmed now, and what was before it, stay
    # Names of runs hold no blanks: see main.
    # shellcheck disable=SC2012
    ls -1t "$base/runs" | tail -n "+$((kept_runs + 1))" | while read -r old; do
        case $old in
        "$(name_of "$base/current")" | "$(name_of "$base/current/previous")") ;;
        *) rm -rf "$base/runs/${old:?}" ;;
        esac
    done
}

settle() { # the pending run, under the lock
    use "$(name_of "$base/pending")"
    case $(state) in
    confirmed | restored) finish ;;
    *) bring_back ;;
    esac
}

# Under the lock: a pending run that is not applied belongs to a call that has died.
heal() {
    there "$base/pending" || return 0
    use "$(name_of "$base/pending")"
    if [ "$(state)" = applied ] && [ "$(remaining)" -gt 0 ]; then return 0; fi
    settle
}
