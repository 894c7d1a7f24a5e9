set -e
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/etc,workdir=$2/work" /etc
mount --bind "$2/sbin" /usr/local/sbin
cp -a "$3/etc/." /etc/
cp -a "$3/usr/local/sbin/." /usr/local/sbin/
mount -t tmpfs -o mode=755 tmpfs /var/lib
mkdir "$2/run"
mount -t tmpfs -o mode=755 tmpfs "$2/run"
mkdir -p "$2/run/systemd"
if [ -d "$3/run/systemd/network" ]; then
    cp -a "$3/run/systemd/network" "$2/run/systemd/"
    mkdir "$2/run/systemd/system"
fi
mkdir -m 755 "$2/run/sshd"
[ ! -d "$5" ] || cp -a "$5" "$2/run/ailb-ssh"
mount --bind "$2/run" /run
mount -t sysfs -o ro,nosuid,nodev,noexec sysfs /sys
mount --bind /proc/sys /proc/sys
mount --bind /proc/sys/net /proc/sys/net
mount -o remount,bind,ro /proc/sys
hostname "$4"
echo ready
exec sleep infinity >/dev/null 2>&1
