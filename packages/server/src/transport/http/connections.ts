import { networkOf } from "@moorage/kernel/lib/network";

export interface ConnectionLimits {
  /** Connections of the port in all. */
  maxConnections: number;
  /** Connections of one network, as rate limits count them; 0 for no limit. */
  maxPerNetwork: number;
  /** Whether a network is not counted, such as a proxy that speaks for many clients. */
  isExempt(address: string): boolean;
  /** Called for each connection that is not taken. */
  rejected(): void;
}

/**
 * Counts a connection from the address. Returns the function to call when it is closed; undefined when it must not be
 * taken. The last tenth of all connections is a reserve: only networks with few connections get one of those, so that
 * those with many cannot shut out the others.
 */
export type TakeConnection = (remoteAddress: string) => (() => void) | undefined;

const RESERVED_SHARE = 0.1;
const FEW = 8;

export function createConnectionLimit(limits: ConnectionLimits): TakeConnection {
  const { maxConnections, maxPerNetwork, isExempt, rejected } = limits;
  const reservedFrom = Math.floor(maxConnections * (1 - RESERVED_SHARE));
  const byNetwork = new Map<string, number>();
  let total = 0;
  return (remoteAddress) => {
    const address = plain(remoteAddress);
    const network = networkOf(address);
    const own = isExempt(address) ? 0 : (byNetwork.get(network) ?? 0);
    const isFull =
      total >= maxConnections || (total >= reservedFrom && own >= FEW) || (maxPerNetwork > 0 && own >= maxPerNetwork);
    if (isFull) {
      rejected();
      return undefined;
    }
    total += 1;
    byNetwork.set(network, (byNetwork.get(network) ?? 0) + 1);
    return () => {
      total -= 1;
      const left = (byNetwork.get(network) ?? 1) - 1;
      if (left === 0) byNetwork.delete(network);
      else byNetwork.set(network, left);
    };
  };
}

// An IPv4 client has an IPv4-mapped address on a socket that also accepts IPv6.
function plain(address: string): string {
  return address.startsWith("::ffff:") && address.includes(".") ? address.slice("::ffff:".length) : address;
}
