"use strict";
/* `ailb.tracer(tables)` follows packets from server to server as the program does, from the tables of path_tables.py:
   the server's lookup, the longest prefix and the hash at every switch, and why one does not arrive. */
ailb.tracer = (() => {
  const MAX_HOPS = 16, NONE = -1, MAIN_PRIORITY = 32766;
  const IV = [0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n,
    0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n];
  const SIGMA = [
    "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d",
    "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0",
  ].map((row) => [...row].map((digit) => parseInt(digit, 16)));
  const WORD = (1n << 64n) - 1n;
  const turned = (value, bits) => (value >> bits) | ((value << (64n - bits)) & WORD);

  /* BLAKE2b (RFC 7693) with a digest of 8 bytes and no key, as a number whose first byte is the highest. */
  function blake2b(bytes) {
    const h = [...IV];
    h[0] ^= 0x01010008n;
    const blocks = Math.max(1, Math.ceil(bytes.length / 128));
    const padded = new DataView(new ArrayBuffer(blocks * 128));
    bytes.forEach((byte, at) => padded.setUint8(at, byte));
    for (let block = 0; block < blocks; block += 1) {
      const m = Array.from({ length: 16 }, (_, at) => padded.getBigUint64(block * 128 + at * 8, true));
      const last = block === blocks - 1;
      const v = [...h, ...IV];
      v[12] ^= BigInt(last ? bytes.length : (block + 1) * 128);
      if (last) v[14] ^= WORD;
      const mix = (a, b, c, d, x, y) => {
        v[a] = (v[a] + v[b] + x) & WORD; v[d] = turned(v[d] ^ v[a], 32n);
        v[c] = (v[c] + v[d]) & WORD; v[b] = turned(v[b] ^ v[c], 24n);
        v[a] = (v[a] + v[b] + y) & WORD; v[d] = turned(v[d] ^ v[a], 16n);
        v[c] = (v[c] + v[d]) & WORD; v[b] = turned(v[b] ^ v[c], 63n);
      };
      for (let round = 0; round < 12; round += 1) {
        const s = SIGMA[round % 10];
        mix(0, 4, 8, 12, m[s[0]], m[s[1]]); mix(1, 5, 9, 13, m[s[2]], m[s[3]]);
        mix(2, 6, 10, 14, m[s[4]], m[s[5]]); mix(3, 7, 11, 15, m[s[6]], m[s[7]]);
        mix(0, 5, 10, 15, m[s[8]], m[s[9]]); mix(1, 6, 11, 12, m[s[10]], m[s[11]]);
        mix(2, 7, 8, 13, m[s[12]], m[s[13]]); mix(3, 4, 9, 14, m[s[14]], m[s[15]]);
      }
      for (let at = 0; at < 8; at += 1) h[at] ^= v[at] ^ v[at + 8];
    }
    const digest = new DataView(new ArrayBuffer(8));
    digest.setBigUint64(0, h[0], true);
    return digest.getBigUint64(0);
  }

  const hashes = new Map();
  function mixed(...parts) {
    const text = parts.join(" ");
    if (!hashes.has(text)) hashes.set(text, blake2b(new TextEncoder().encode(text)));
    return hashes.get(text);
  }

  /* An IPv6 address as text: RFC 5952, with the dotted end that inet_ntop gives to IPv4 inside. */
  function addressText(value) {
    const words = Array.from({ length: 8 }, (_, at) => Number((value >> BigInt(112 - 16 * at)) & 0xffffn));
    let best = { at: -1, length: 1 };
    for (let at = 0; at < 8; at += 1) {
      let length = 0;
      while (at + length < 8 && words[at + length] === 0) length += 1;
      if (length > best.length) best = { at, length };
    }
    const hex = (row) => row.map((word) => word.toString(16)).join(":");
    if (best.at === 0 && (best.length === 6 || (best.length === 5 && words[5] === 0xffff))) {
      const dotted = [words[6] >> 8, words[6] & 255, words[7] >> 8, words[7] & 255].join(".");
      return best.length === 6 ? `::${dotted}` : `::ffff:${dotted}`;
    }
    if (best.at < 0) return hex(words);
    return `${hex(words.slice(0, best.at))}::${hex(words.slice(best.at + best.length))}`;
  }

  const number = (hex) => BigInt(`0x${hex}`);

  function tracer(tables) {
    const { devices, texts, entries, classes } = tables;
    const prefixes = tables.prefixes.map((text) => {
      const [value, length] = text.split("/");
      return { value: number(value), length: Number(length), shift: 128n - BigInt(length) };
    });
    const addresses = tables.addresses.map(number);
    const holds = (prefix, address) => (address ^ prefix.value) >> prefix.shift === 0n;
    const prefixText = (prefix) => `${addressText(prefix.value)}/${prefix.length}`;
    const own = tables.own.map((row) => new Set(row));
    const fib = new Map();
    const rows = adjacencies();
    const lengths = byLength();

    /* The sessions of every device by position: ordered by peer, then by session. */
    function adjacencies() {
      const found = devices.slice(0, tables.switches).map(() => []);
      tables.sessions.forEach(([a, aPort, aInterface, aColor, b, bPort, bInterface, bColor], session) => {
        const link = `${devices[a]}:${texts[aPort]} - ${devices[b]}:${texts[bPort]}`;
        found[a].push({ peer: b, session, interface: texts[aInterface], peerInterface: texts[bInterface], color: texts[aColor], link });
        found[b].push({ peer: a, session, interface: texts[bInterface], peerInterface: texts[aInterface], color: texts[bColor], link });
      });
      for (const row of found) row.sort((one, other) => one.peer - other.peer || one.session - other.session);
      return found;
    }

    /* The routed prefixes: by length, longest first, by their leading bits. */
    function byLength() {
      const found = new Map();
      prefixes.slice(0, tables.routed).forEach((prefix, at) => {
        if (!found.has(prefix.length)) found.set(prefix.length, { shift: prefix.shift, numbers: new Map() });
        found.get(prefix.length).numbers.set(prefix.value >> prefix.shift, at);
      });
      return [...found].sort((one, other) => other[0] - one[0]).map(([, row]) => row);
    }

    /* The FIB entry of a device: positions, empty for a direct route, null without a route. */
    function entryOf(change, prefix, device) {
      if (!fib.has(prefix)) {
        const flat = tables.fib[prefix], found = new Map();
        for (let at = 0; at < flat.length; at += 2) found.set(flat[at], entries[flat[at + 1]]);
        fib.set(prefix, found);
      }
      const steady = fib.get(prefix), alone = tables.classCount + device, shared = classes[device];
      const changed = (node) => change?.get(node)?.get(prefix);
      for (const found of [changed(alone), steady.get(alone), changed(shared), steady.get(shared)]) {
        if (found !== undefined) return found;
      }
      return null;
    }

    function longestMatch(change, device, address) {
      for (const { shift, numbers } of lengths) {
        const prefix = numbers.get(address >> shift);
        if (prefix !== undefined && entryOf(change, prefix, device) !== null) return prefix;
      }
      return null;
    }

    /* What a failure changes, by node and prefix; `row` is as FibChanges writes it. */
    function changes([flat, doubtful]) {
      const found = new Map();
      for (let at = 0; at < flat.length; at += 3) {
        if (!found.has(flat[at])) found.set(flat[at], new Map());
        let prefix = 0;
        for (const step of flat[at + 2]) {
          prefix += step;
          found.get(flat[at]).set(prefix, flat[at + 1]);
        }
      }
      return { change: found, doubtful: new Set(doubtful) };
    }

    const profileOf = (host) => tables.profiles[tables.hosts[host][1]];
    const hostName = (host) => tables.hosts[host][0];
    const nicsOf = (host) => profileOf(host).nics;

    /* The switch and port that a NIC is cabled to, null without a cable. */
    function cableOf(host, nic) {
      const [device, port] = tables.hosts[host][2].slice(2 * nic, 2 * nic + 2);
      return device === NONE ? null : { device, port: texts[port], text: `${devices[device]}:${texts[port]}` };
    }

    const sourcesOf = (host, nic) => profileOf(host).rules.filter((rule) => rule[3] === nic).map((rule) => prefixes[rule[1]]);

    function endpoint(host, nic, pair, prefix) {
      const identifier = profileOf(host).identifiers[nic];
      const address = prefix.value + (identifier === null ? 0n : number(identifier));
      const known = identifier !== null;
      return {
        host, nic, pair, prefix, address, known, device: hostName(host), port: nicsOf(host)[nic],
        text: known ? addressText(address) : prefixText(prefix), leaf: cableOf(host, nic),
      };
    }

    /* Both ends of every queue pair between two NICs; throws an Error that says why there are none. */
    function flows(source, sourceNic, target, targetNic) {
      const first = sourcesOf(source, sourceNic), second = sourcesOf(target, targetNic);
      for (const [host, nic, found] of [[source, sourceNic, first], [target, targetNic, second]]) {
        if (!found.length) throw new Error(`${hostName(host)}: ${nicsOf(host)[nic]} has no usable routing rules, so no queue pair has an address there`);
      }
      const pairs = first.map((prefix, at) => {
        if (at >= second.length) {
          throw new Error(`--qp ${at + 1}: ${nicsOf(target)[targetNic]} of ${hostName(target)} has ${second.length} prefixes, counted from 1`);
        }
        return [endpoint(source, sourceNic, at + 1, prefix), endpoint(target, targetNic, at + 1, second[at])];
      });
      if (source === target && sourceNic === targetNic) {
        const name = `${hostName(source)}:${nicsOf(source)[sourceNic]}`;
        throw new Error(`${name} and ${name}: the same NIC; such packets never leave the server`);
      }
      return pairs;
    }

    function bestRoute(flat, destination) {
      let best = null, length = -1;
      for (let at = 0; at < flat.length; at += 3) {
        const to = prefixes[flat[at]];
        if (to.length > length && holds(to, destination)) {
          best = { nic: flat[at + 1], gateway: flat[at + 2] };
          length = to.length;
        }
      }
      return best;
    }

    /* Rules by priority, then the longest prefix; the main table last. */
    function lookup(profile, source, destination) {
      for (const [priority, from, table] of profile.rules) {
        if (table === NONE || !holds(prefixes[from], source)) continue;
        if (priority !== null && priority > MAIN_PRIORITY) break;
        const [name, flat] = profile.tables[table] ?? ["", []];
        const route = bestRoute(flat, destination);
        if (route) return { priority, name, route };
      }
      return { priority: null, name: "main", route: bestRoute(profile.main[1], destination) };
    }

    /* What is down: `dead` switches, the cable of NICs, and what changes in FIBs. */
    const isNicDown = (failure, host, nic) => {
      const leaf = cableOf(host, nic);
      return failure.nics.has(`${host} ${nic}`) || (leaf !== null && failure.dead.has(leaf.device));
    };

    function beforeLeaf(failure, source, target, found) {
      if (!found.route) return `${source.device} has no route to ${target.text}`;
      const nic = nicsOf(source.host)[found.route.nic], leaf = cableOf(source.host, found.route.nic);
      if (!leaf || leaf.device >= tables.switches) return `${nic} of ${source.device} is cabled to no known switch`;
      if (failure.dead.has(leaf.device)) return `${devices[leaf.device]} is down`;
      if (isNicDown(failure, source.host, found.route.nic)) return `the cable from ${nic} to ${leaf.text} is down`;
      const gateway = found.route.gateway;
      if (gateway !== NONE && !own[leaf.device].has(gateway)) {
        return `the gateway ${addressText(addresses[gateway])} is no address of ${devices[leaf.device]}`;
      }
      return "";
    }

    function behindLeaf(failure, target, last) {
      if (!target.leaf) return `arrives at ${last}; ${target.port} of ${target.device} is cabled to no known switch`;
      const leaf = devices[target.leaf.device];
      if (leaf !== last) return `arrives at ${last}, not at ${leaf}; ${target.port} of ${target.device} is cabled to ${target.leaf.text}`;
      return isNicDown(failure, target.host, target.nic) ? `the cable from ${target.leaf.text} to ${target.port} is down` : "";
    }

    /* Follow a packet through the switches. */
    function through(failure, start, address, flow) {
      const hops = [], links = [], doubtful = [];
      let device = start, arrived = "";
      while (hops.length < MAX_HOPS) {
        const name = devices[device];
        const hop = { switch: name, in: arrived, prefix: null, ways: [], taken: null, color: "" };
        hops.push(hop);
        const prefix = longestMatch(failure.change, device, address);
        if (prefix === null) return { hops, links, doubtful, problem: `no route at ${name}` };
        if (failure.doubtful.has(prefix)) doubtful.push(prefix);
        hop.prefix = prefixText(prefixes[prefix]);
        const ways = entryOf(failure.change, prefix, device).map((at) => rows[device][at]);
        if (!ways.length) return { hops, links, doubtful, problem: "" };
        hop.taken = ways.length > 1 ? Number(mixed(flow, name) % BigInt(ways.length)) : 0;
        hop.ways = ways.map((way) => ({ interface: way.interface, peer: devices[way.peer] }));
        const way = ways[hop.taken];
        hop.color = way.color;
        links.push(way.link);
        arrived = way.peerInterface;
        device = way.peer;
      }
      return { hops, links, doubtful, problem: `forwarding loop: more than ${MAX_HOPS} hops` };
    }

    const endJson = (end) => ({
      device: end.device, port: end.port, prefix: prefixText(end.prefix), address: end.known ? end.text : null,
      certain: true, cable: end.leaf ? end.leaf.text : null,
    });

    /* Follow a queue pair: `path` is what `ailb-gen path --json` prints, `links` are the names of the links it takes. */
    function trace(failure, source, target, hash) {
      const found = lookup(profileOf(source.host), source.address, target.address);
      const leaf = found.route ? cableOf(source.host, found.route.nic) : null;
      let problem = beforeLeaf(failure, source, target, found);
      let passed = { hops: [], links: [], doubtful: [] };
      if (!problem) {
        passed = through(failure, leaf.device, target.address, mixed(source.address, target.address, hash));
        problem = passed.problem || behindLeaf(failure, target, passed.hops.at(-1).switch);
      }
      const first = passed.hops.length ? [`${leaf.text} - ${source.device}:${nicsOf(source.host)[found.route.nic]}`] : [];
      const last = problem ? [] : [`${target.leaf.text} - ${target.device}:${target.port}`];
      return {
        links: [...first, ...passed.links, ...last],
        doubtful: passed.doubtful.map((prefix) => prefixText(prefixes[prefix])),
        gateway: found.route && found.route.gateway !== NONE ? addressText(addresses[found.route.gateway]) : "",
        path: {
          queue_pair: source.pair, source: endJson(source), destination: endJson(target),
          rule: found.priority, table: found.name, nic: found.route ? nicsOf(source.host)[found.route.nic] : "",
          entered: passed.hops.length ? leaf.port : "", hops: passed.hops, problem,
        },
      };
    }

    const nothing = () => ({ change: null, doubtful: new Set(tables.unstable), dead: new Set(), nics: new Set() });
    const linkName = (session) => {
      const [a, aPort, , , b, bPort] = tables.sessions[session];
      return `${devices[a]}:${texts[aPort]} - ${devices[b]}:${texts[bPort]}`;
    };
    return { flows, trace, changes, nothing, linkName, nicsOf, cableOf, hostName };
  }

  tracer.hash = (text) => blake2b(new TextEncoder().encode(text)).toString();
  tracer.addressText = addressText;
  return tracer;
})();
