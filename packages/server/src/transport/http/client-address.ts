import { isIP } from "node:net";
import { variableOf } from "@moorage/kernel/config";
import { networks, peerAddress } from "@moorage/kernel/lib/network";

/** The client's address of a request, from its socket's address and its X-Forwarded-For header. */
export type ClientAddress = (socketAddress: string, forwardedFor: string | undefined) => string;

/**
 * The client's address: the socket's, or, when that is a trusted proxy, the last one in X-Forwarded-For that is not.
 * `trusted` are the entries of MOORAGE_TRUSTED_PROXIES; throws an Error that names an invalid one.
 */
export function clientAddress(trusted: readonly string[]): ClientAddress {
  const isTrusted = networks(variableOf("trustedProxies"), trusted);
  return (socketAddress, forwardedFor) => {
    let client = peerAddress(socketAddress);
    if (forwardedFor === undefined) return client;
    for (const hop of forwardedFor.split(",").toReversed()) {
      if (!isTrusted(client) || isIP(hop.trim()) === 0) break;
      client = hop.trim();
    }
    return client;
  };
}
