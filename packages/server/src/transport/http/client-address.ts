import { BlockList, isIP } from "node:net";
import { variableOf } from "../../config/index.ts";

/** The client's address of a request, from its socket's address and its X-Forwarded-For header. */
export type ClientAddress = (socketAddress: string, forwardedFor: string | undefined) => string;

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

/**
 * The client's address: the socket's, or, when that is a trusted proxy, the last one in X-Forwarded-For that is not.
 * `trusted` are the entries of MOORAGE_TRUSTED_PROXIES; throws an Error that names an invalid one.
 */
export function clientAddress(trusted: readonly string[]): ClientAddress {
  const isTrusted = networks(variableOf("trustedProxies"), trusted);
  return (socketAddress, forwardedFor) => {
    let client = plain(socketAddress);
    if (forwardedFor === undefined) return client;
    for (const hop of forwardedFor.split(",").toReversed()) {
      if (!isTrusted(client) || isIP(hop.trim()) === 0) break;
      client = hop.trim();
    }
    return client;
  };
}

// An IPv4 client has an IPv4-mapped address on a socket that also accepts IPv6.
function plain(address: string): string {
  return address.startsWith("::ffff:") && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
