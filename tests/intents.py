"""Random fabric files: every key of the schema, most of the time with values that a fabric could have."""

import random
from typing import Any

import yaml

SPEEDS = ("100g", "200g", "400g", "800g")
PLATFORMS = ("generic", "qfx5240-64od", "qfx5240-64qd", "qfx5230-64cd", "qfx5130-32cd")
PALETTE = ("green", "blue", "red", "orange", "amber", "teal", "c-1", "c_2", "Rose", "x")
Data = dict[str, Any]


class Intents:
    """Makes fabric files from a source of random numbers; each key is left out more often than not."""

    def __init__(self, source: random.Random) -> None:
        self.source = source

    def some(self, chance: float = 0.3) -> bool:
        """Decide whether a key is written."""
        return self.source.random() < chance

    def one(self, *values: Any) -> Any:
        """Choose a value."""
        return self.source.choice(values)

    def between(self, low: int, high: int) -> int:
        """Choose a number; the ends are likelier than others."""
        near = self.source.randint(low, min(high, low + 8))
        return self.source.choice((low, high, self.source.randint(low, high), near))

    def given(self, chance: float = 0.5, /, **values: Any) -> Data:
        """Keep some of the values."""
        return {key: value for key, value in values.items() if self.some(chance)}

    def fabric(self) -> Data:
        """Return a fabric file as data."""
        stripes, rails = self.one(1, 2, 2, 3), self.one(1, 2, 2, 3)
        spines, links = self.one(1, 2, 2, 3, 4, 4, 6), self.one(1, 1, 1, 2, 3, 4)
        data: Data = {"name": self.one("f", "pod-7", "Fabric_1", "a.b"), "stripes": stripes, "spines": spines}
        data["rails"] = rails
        if links > 1:
            data["links_per_spine"] = links
        servers = self.one(0, 1, 2, 2, 3)
        data["servers"] = self.one(servers, servers, {"count": servers, "name": self.one("s{s}-{i}", "h{n:03}")})
        data |= self.ports(spines, links)
        data |= self.colors(spines * links)
        data |= self.numbers()
        data |= self.settings(host=True)
        if self.some():
            data["names"] = self.given(leaf=self.one("r{s}l{l}", "leaf-{s}-{l:02}"), spine="sp{k:02}", nic="eth{i}_gpu")
        if self.some(0.2):
            data["hosts"] = self.given(
                rdma=self.one("mlx5_{i}", [f"m{n}" for n in range(rails)]), forwarding=True, out_of_order=True
            )
        if self.some(0.2):
            environment = {"NCCL_DEBUG": self.one("INFO", "a b 'c'"), "MY_VAR": "x=$HOME;y"}
            data["nccl"] = self.given(
                socket_nthreads=self.between(1, 16),
                gid_index=self.one("found", self.between(1, 255)),
                socket_ifname=self.one("eno1", "=eno1,eno2"),
                environment=environment,
            )
        if self.some(0.15):
            data["extra_config"] = "system {\n    ntp {\n        server 192.0.2.250;\n    }\n}\n"
        if self.some(0.1) and not isinstance(data["servers"], dict):
            data["servers"] = self.listed(stripes, rails)
        if self.some(0.2):
            data |= self.kinds(rails, data)
        if self.some(0.1):
            data["spare_ports"] = self.given(leaf=["et-*/0/[2-3]*"], spine=[self.one("*-0/0/*", "et-0/0/60")])
        if self.some(0.2):
            data["stripes"] = [self.stripe() for _ in range(stripes)]
        if self.some(0.2):
            data["spines"] = [self.spine(number) for number in range(spines)]
        if self.some(0.35):
            data["overrides"] = self.overrides(data, stripes, rails, spines)
        if self.some(0.25):
            data["drain"] = self.drains(data, stripes, rails, spines)
        if spines > 1 and "drain" not in data and self.some(0.2):
            cores = self.names(data, stripes, rails, spines)[1]
            data["graceful_shutdown"] = self.one(self.one(*cores), [self.one(*cores)], "*1")
        return data

    def ports(self, spines: int, links: int) -> Data:
        """Return platforms and the layout of ports."""
        data: Data = {}
        speed = self.one("400g", "400g", *SPEEDS)
        platform = self.one(*PLATFORMS, "generic", "own")
        if platform == "own":
            data["platforms"] = {"own": self.profile()}
        data["platform"] = self.one(platform, platform, {"leaf": platform, "spine": "generic"})
        if self.some() or speed != "400g":
            data["uplinks"] = {"speed": speed} | self.given(
                0.3, sub_ports=self.one(1, 2), first_port=self.between(0, 8), packing=self.one("spread", "packed")
            )
        if self.some():
            data["downlinks"] = self.given(
                sub_ports=self.one(1, 2), first_port=self.between(0, 8), packing=self.one("spread", "packed")
            )
        first = max(16, spines * links + 8) if platform != "qfx5130-32cd" else min(24, spines * links + 8)
        data["host_ports"] = {"first_port": first} | self.given(
            0.3, speed=self.one(*SPEEDS), sub_ports=self.one(1, 2, 4), packing=self.one("spread", "packed")
        )
        return data

    def profile(self) -> Data:
        """Return a platform of one's own."""
        native = self.one("400g", "800g")
        speeds = {native: [1], "400g": [1, 2], "200g": [1, 2, 4], "100g": [1, 2, 4, 8]}
        fpcs, ports = self.one((0, "0-63"), ("0-3", "0-31"), ("1-2", "0-63"))
        group = {"fpcs": fpcs, "ports": ports, "native": native, "speeds": speeds}
        return {"port_groups": [group | self.given(type=self.one("et", "et", "xe"), pic=self.one(0, 1))]} | self.given(
            management_interface=self.one("re0:mgmt-0", "fxp0", "em0", "vme"), description="a chassis"
        )

    def colors(self, uplinks: int) -> Data:
        """Return colors that divide the uplinks, or now and then do not."""
        fitting = [number for number in range(1, min(uplinks, len(PALETTE)) + 1) if uplinks % number == 0]
        count = self.one(*fitting, uplinks)
        data: Data = {"aigp": self.one("on", "on", "off")} if self.some(0.1) else {}
        if not self.some(0.7):
            return data
        names = list(self.source.sample(PALETTE, count)) if count <= len(PALETTE) else None
        plan: Data = {"names": names} if names and self.some(0.7) else {"count": count}
        if self.some(0.4):
            plan["backup"] = self.backup(names) if names and "names" in plan else self.one("all", "none")
        data["colors"] = self.one(plan, plan["names"] if set(plan) == {"names"} else plan)
        return data

    def backup(self, names: list[str]) -> Any:
        """Return who backs up what."""
        shuffled = self.source.sample(names, len(names))
        mapping = {name: other for name, other in zip(names, shuffled, strict=True) if name != other}
        some = self.source.sample(names, self.source.randint(1, len(names)))
        return self.one("all", "none", mapping or "none", some)

    def numbers(self) -> Data:
        """Return number plans."""
        data: Data = {}
        if self.some(0.25):
            data["addressing"] = self.one(
                {"pool": "fd12:3456:789a::/48", "stripe": "48-51", "leaf": "52-57", "uplink": "58-63"},
                {"pool": "2001:db8::/32", "stripe": 3, "leaf": "48-55", "uplink": "56-63"},
                {"pool": "fd00::/8", "gateway": self.between(1, 0xFFFF)},
            )
        if self.some(0.25):
            data["vlans"] = self.given(first=self.between(2, 4000), unique=self.one("fabric", "stripe"))
        if self.some(0.25):
            data["tables"] = self.given(first=self.between(256, 2**31 - 1), priority=self.between(1, 32000))
        if self.some(0.25):
            data["asn"] = self.given(
                leaves=self.one("65101-65199", "4200000000-4200000999", "1.0", "64512-64600"),
                spines=self.one("65001-65099", 65000, "64601-64699"),
            )
            if data["asn"].get("leaves") == "1.0":
                data["asn"]["leaves"] = "131072-131099"
        if self.some(0.2):
            data["router_ids"] = {"leaves": "10.9.1.0/24", "spines": self.one("10.9.0.0/24", "192.168.7.0/28")}
        if self.some(0.2):
            data["loopbacks"] = {"leaves": "fd77:1::/64", "spines": "fd77:2::/64"}
        if self.some(0.25):
            data["management"] = self.given(
                0.7,
                gateway="192.0.2.254",
                leaves="192.0.2.11/24",
                spines="192.0.2.1/24",
                servers="192.0.2.101/24",
            )
        return data

    def settings(self, host: bool, chance: float = 0.2) -> Data:
        """Return what may stand at every level; `host` is whether servers are meant, too."""
        data: Data = {}
        if self.some(chance):
            irb = self.one(9170, 9000, 1500, 4200)
            data["mtu"] = {"irb": irb, "port": self.one(9216, 9600, 9500)} | ({"host": irb - 170} if host else {})
        if self.some(chance):
            data["bfd"] = self.given(
                enabled=self.one(True, False), interval_ms=self.between(1, 255000), multiplier=self.between(1, 255)
            )
        if self.some(chance):
            longest = self.between(4, 1800)
            data["ra"] = {"max_interval_s": longest, "min_interval_s": max(3, longest * 3 // 4)} | self.given(
                router_lifetime_s=self.one(0, 9000),
                valid_lifetime_s=self.one(2592000, 4294967295, 700000),
                preferred_lifetime_s=self.one(604800, 700000),
            )
        if self.some(chance):
            data["load_balancing"] = self.balancing()
        if self.some(chance):
            data["roce"] = self.roce()
        return data

    def balancing(self) -> Data:
        """Return dynamic and global load balancing."""
        mode = self.one("flowlet", "per-packet", "assigned-flow", "off")
        low = self.between(1, 99)
        dlb: Any = mode
        if self.some(0.6):
            dlb = {"mode": mode} | self.given(
                inactivity_interval_us=self.between(1, 32000),
                flowset_table_size=self.one(256, 512, 1024, 2048, 4096, 8192, 16384, 32768),
                prob_threshold=self.between(0, 255),
                quality_delta=self.between(0, 7),
                sampling_rate=self.between(1, 4294967295),
                egress_quantization={"min": low, "max": self.between(low + 1, 100)}
                | self.given(rate_weightage=self.between(0, 100)),
            )
        return self.given(0.8, dlb=dlb) | self.given(0.4, glb=self.one("on", "off"))

    def roce(self) -> Data:
        """Return classes of service."""
        queue = self.between(1, 6)
        fill = self.between(0, 99)
        cnp = self.one(48, 46, 8, self.between(0, 63))
        data = self.given(
            0.4,
            dscp=self.between(0, 63),
            pfc_priority=self.between(0, 7),
            cnp_dscp=cnp,
            cnp_percent=self.between(1, 100),
            pfc_watchdog=self.one("on", "off"),
            ecn={"min_fill": fill, "max_fill": self.between(fill + 1, 100)}
            | self.given(max_probability=self.between(1, 100)),
        )
        if self.some(0.4):
            data |= {"queue": queue, "cnp_queue": self.one(*({1, 2, 3, 4, 5, 6} - {queue}))}
        if self.some(0.2):
            data["buffers"] = self.given(
                0.3,
                lossless=self.between(0, 66),
                dynamic_threshold=self.between(0, 10),
                dedicated_ingress=self.between(0, 100),
                dedicated_egress=self.between(0, 100),
            )
        if self.some(0.1):
            data["enabled"] = "off"
        return data

    def listed(self, stripes: int, rails: int) -> list[Data]:
        """Return servers one by one, some with NICs of their own."""
        rows = []
        for number in range(self.source.randint(1, 4)):
            row: Data = {"name": f"gpu{number}", "stripe": self.source.randint(1, stripes)}
            if self.some():
                row["nics"] = [self.nic(number, rail) for rail in range(rails)]
            if self.some():
                row |= self.given(mtu=self.one(1500, 8000), management=f"198.51.100.{10 + number}/24")
            rows.append(row)
        return rows

    def kinds(self, rails: int, data: Data) -> Data:
        """Return kinds of servers, and servers of them; a port row of their own begins behind the usual ones."""
        first = data["host_ports"]["first_port"] + self.between(4, 12)
        rows = {}
        for name in self.source.sample(("big", "store", "x.1"), self.source.randint(1, 2)):
            ports = {"first_port": first} | self.given(
                0.3, speed=self.one(*SPEEDS), packing=self.one("spread", "packed")
            )
            rows[name] = self.given(
                0.4,
                rails=self.source.sample(range(rails), self.source.randint(1, rails)),
                host_ports=self.one(ports, ports, {}),
                gpus=self.one("on", "off"),
                mtu=self.one(1500, 4200),
                nic="k{i}",
                rdma=self.one("kr_{i}", [f"q{n}" for n in range(rails)]),
            )
            first += self.between(4, 12)
        usual = data["servers"] if isinstance(data["servers"], int) else 1
        more = [{"count": self.source.randint(0, 2), "kind": name, "name": f"{name}-{{n}}"} for name in rows]
        return {"server_kinds": rows, "servers": [{"count": usual}, *more]}

    def nic(self, server: int, rail: int) -> Data:
        """Return a NIC."""
        return self.given(mac=f"a0:88:c2:00:{server:02x}:{rail:02x}", rdma=f"rocep{server}s{rail}", name=f"rdma{rail}")

    def stripe(self) -> Data:
        """Return an entry of the list of stripes."""
        data = self.given(0.2, rails=self.source.randint(1, 3), servers=self.source.randint(0, 2))
        return data | {
            key: value for key, value in self.settings(host=True, chance=0.1).items() if key in ("bfd", "ra")
        }

    def spine(self, number: int) -> Data:
        """Return an entry of the list of spines."""
        data = self.given(0.2, name=f"core{number}", asn=64900 + number, router_id=f"172.31.0.{number + 1}")
        return data | {key: value for key, value in self.settings(host=False, chance=0.1).items() if key == "bfd"}

    def names(self, data: Data, stripes: int, rails: int, spines: int) -> tuple[list[str], list[str]]:
        """Return the names of leaves and spines, as the file says."""
        said = data.get("names", {})
        leaf, spine = said.get("leaf", "stripe{s}-leaf{l}"), said.get("spine", "spine{k}")
        leaves = [leaf.format(s=s, l=rail) for s in range(1, stripes + 1) for rail in range(1, rails + 1)]
        return leaves, [spine.format(k=number) for number in range(1, spines + 1)]

    def overrides(self, data: Data, stripes: int, rails: int, spines: int) -> Data:
        """Return exceptions."""
        leaves, cores = self.names(data, stripes, rails, spines)
        result: Data = {}
        if self.some():
            result["leaves"] = {self.one(*leaves): self.device(7) | self.given(0.3, vlan=4007)}
        if self.some():
            result["spines"] = {self.one(*cores): self.device(8)}
        if self.some():
            settings = self.settings(host=True, chance=0.2)
            result["stripes"] = {
                self.source.randint(1, stripes): {k: settings[k] for k in settings if k in ("bfd", "ra")}
            }
        if self.some(0.2) and isinstance(data["servers"], list):
            result["servers"] = {"gpu0": {"mtu": 4000}}
        return result

    def device(self, number: int) -> Data:
        """Return what is said about a switch."""
        port = self.one("et-0/0/0", "et-0/0/1:0", "et-0/0/0:0", "et-0/0/16", "et-0/0/16:0")
        said = {port: self.given(description=self.one("spare", "a & b <c>"), disabled=self.one("on", "off"))}
        return self.given(
            0.3,
            asn=64700 + number,
            router_id=f"172.30.0.{number}",
            loopback=f"fd99::{number}",
            management=f"192.0.2.{200 + number}/24",
            bfd={"interval_ms": 300},
            extra_config='snmp { location "room 7"; }',
        ) | self.given(0.15, ports=said)

    def drains(self, data: Data, stripes: int, rails: int, spines: int) -> Any:
        """Return what is out of service."""
        leaves, cores = self.names(data, stripes, rails, spines)
        parts = [
            self.one(*cores),
            f"{self.one(*leaves)} {self.one(*cores)}",
            f"{self.one(*leaves)} et-0/0/1*",
            f"{self.one(*cores)} et-0/0/0*",
            "blue",
            "gpu0",
        ]
        return self.one(parts[0], self.source.sample(parts, self.source.randint(1, 2)))


class MixedIntents(Intents):
    """Makes fabric files with several kinds of servers, speeds and spare ports, by count, by name and per stripe."""

    def fabric(self) -> Data:
        """Return a fabric file as data."""
        stripes, rails, spines = self.one(1, 2, 2, 3), self.one(1, 2, 2, 3, 4), self.one(1, 2, 4)
        platform = self.one("generic", "qfx5240-64od", "qfx5240-64od", "qfx5240-64qd", "qfx5130-32cd")
        first = self.one(8, 12, 16) if platform != "qfx5130-32cd" else 8
        own = [self.given(0.4, rails=self.between(1, rails)) for _ in range(stripes)]
        data: Data = {"name": "f", "platform": platform, "stripes": own, "rails": rails, "spines": spines}
        data["host_ports"] = {"first_port": first} | self.row()
        kinds = {name: self.kind(first, rails, own) for name in self.source.sample(("big", "store", "x.1"), 2)}
        data |= {"server_kinds": kinds, "servers": self.group(kinds, stripes, "")}
        data |= self.given(0.3, nccl={"environment": {"NCCL_DEBUG": "INFO"}}, hosts={"rdma": "m_{i}"})
        if self.some(0.5):
            data["spare_ports"] = self.given(0.7, leaf=["et-0/0/3[01]*", "et-0/0/2*"], spine=["et-0/0/3*"])
        for number, stripe in enumerate(own, 1):
            if self.some(0.3):
                stripe["servers"] = self.group(kinds, 1, f"t{number}-")
            if self.some(0.3):
                stripe["host_ports"] = self.row()
        if self.some(0.3):
            data["overrides"] = {"stripes": {self.between(1, stripes): {"host_ports": self.row()}}}
        counted = "servers" not in own[0] and isinstance(data["servers"], list) and data["servers"][0]["count"]
        if self.some(0.4) and counted:
            over = {"nics": {0: self.given(name="own0", mac="02:00:00:00:09:01", rdma="r9")}, "mtu": 1600}
            data.setdefault("overrides", {})["servers"] = {"server-001": over}
        if self.some(0.3):
            data["drain"] = [self.one("server-001", "spine1") if counted else "stripe1-leaf1"]
        return data

    def row(self) -> Data:
        """Return what differs in a row of ports."""
        return self.given(
            0.2,
            speed=self.one(*SPEEDS[:3], *SPEEDS),
            sub_ports=self.one(1, 1, 2, 4),
            packing=self.one("spread", "packed"),
        )

    def kind(self, first: int, rails: int, stripes: list[Data]) -> Data:
        """Return a kind of servers; now and then one that a short stripe has no rails for."""
        most = min(stripe.get("rails", rails) for stripe in stripes) if self.some(0.9) else rails
        ports = {"first_port": first + self.one(4, 6, 8, 12)} | self.row()
        return self.given(
            0.5,
            rails=self.source.sample(range(most), self.source.randint(1, most)),
            host_ports=self.one(ports, ports, self.row()),
            gpus=self.one("on", "off"),
            mtu=self.one(1500, 4200),
            nic="k{i}",
            rdma="kr_{i}",
        )

    def group(self, kinds: Data, stripes: int, prefix: str) -> Any:
        """Return the servers of the fabric or of a stripe: counted ones, then some by name."""
        rows: list[Data] = [{"count": self.between(0, 2)} | ({"name": f"{prefix}s{{s}}-{{i}}"} if prefix else {})]
        for name in kinds:
            row = {"count": self.between(0, 2), "kind": name}
            row |= {"name": f"{prefix}{name}-{{n}}"} if prefix else {}
            rows.append(row | ({"stripe": self.between(1, stripes)} if not prefix and self.some() else {}))
        for number in range(self.one(0, 0, 1, 2)):
            row = {"name": f"{prefix}named{number}"} | ({"stripe": self.between(1, stripes)} if not prefix else {})
            row |= self.given(kind=self.one(*kinds), mtu=1700)
            port = self.one("et-0/0/27", "et-0/0/27:1")
            rows.append(row | self.given(0.4, nics={0: self.given(port=port, name="n9")}))
        return self.one(rows, rows, {"count": 1, "kind": self.one(*kinds), "name": prefix + "c{n}", "list": rows[1:]})


def random_mixed(seed: int) -> str:
    """Return a random fabric file with several kinds of servers; the same for the same number."""
    return yaml.safe_dump(MixedIntents(random.Random(seed)).fabric(), sort_keys=False)


def random_intent(seed: int) -> str:
    """Return a random fabric file; the same for the same number."""
    return yaml.safe_dump(Intents(random.Random(seed)).fabric(), sort_keys=False)
