import { BlockList, isIP } from "node:net";

/**
 * The network that counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address, because one customer
 * has at least a whole /64. Source: RFC 6177 §2.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  if (address.startsWith("::ffff:") && address.includes(".")) return address.slice("::ffff:".length);
  const [head = "", tail] = address.split("::");
  const groups = head.split(":");
  if (tail !== undefined && groups.length < 4) {
    const last = tail === "" ? [] : tail.split(":");
    const all = last.length + (tail.includes(".") ? 1 : 0);
    if (head === "") groups.pop();
    for (let zeros = 8 - groups.length - all; zeros > 0 && groups.length < 4; zeros--) groups.push("0");
    groups.push(...last);
  }
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}

/**
 * Makes a function that says whether an address belongs to the networks: addresses, or networks in CIDR form. Throws an
 * Error that names the first invalid entry and the setting it is in.
 */
export function networks(setting: string, entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix] = entry.split("/");
    const version = isIP(address);
    const bits = prefix === undefined ? (version === 4 ? 32 : 128) : Number(prefix);
    if (version === 0 || !Number.isInteger(bits) || bits < 0 || bits > (version === 4 ? 32 : 128))
      throw new Error(`${setting}: ${entry} is not an address or a network`);
    list.addSubnet(address, bits, version === 4 ? "ipv4" : "ipv6");
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}

/** The address of a socket's peer: an IPv4 client has an IPv4-mapped one on a socket that also accepts IPv6. */
export function peerAddress(address: string): string {
  return address.startsWith("::ffff:") && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
