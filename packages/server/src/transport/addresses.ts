import { BlockList, isIP } from "node:net";

/** Says where a request comes from. */
export type ClientAddress = (socketAddress: string, forwardedFor: string | undefined) => string;

/**
 * The client's address: the socket's, or, when that is a trusted proxy, the last one in X-Forwarded-For that is not.
 * `trusted` are addresses and networks in CIDR form; the first one that is neither is thrown as an Error that names it.
 */
export function clientAddress(trusted: readonly string[]): ClientAddress {
  const proxies = new BlockList();
  for (const entry of trusted) {
    const [address = "", prefix] = entry.split("/");
    const version = isIP(address);
    const bits = prefix === undefined ? (version === 4 ? 32 : 128) : Number(prefix);
    if (version === 0 || !Number.isInteger(bits) || bits < 0 || bits > (version === 4 ? 32 : 128)) throw new Error(`MOORAGE_TRUSTED_PROXIES: ${entry} is not an address or a network`);
    proxies.addSubnet(address, bits, version === 4 ? "ipv4" : "ipv6");
  }
  const isTrusted = (address: string): boolean => isIP(address) !== 0 && proxies.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
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

// An IPv4 client of a socket that also takes IPv6.
function plain(address: string): string {
  return address.startsWith("::ffff:") && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
