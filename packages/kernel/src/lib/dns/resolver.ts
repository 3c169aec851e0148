import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { type SystemNames, systemNames } from "./system-files.ts";

export interface ResolverOptions {
  /** The name servers, as `address[:port]`. With none, those of the operating system, and its hosts file. */
  servers?: readonly string[];
  /** The time for one name, in milliseconds. Defaults to 5 seconds. */
  timeoutMs?: number;
}

/**
 * The addresses of a name, IPv4 first. Rejects with an error whose `code` is that of `dns.lookup`: ENOTFOUND when the
 * name has no address, EAI_AGAIN when that cannot be found out in time.
 */
export type NameResolver = (name: string) => Promise<LookupAddress[]>;

const TIMEOUT_MS = 5_000;
const MAX_UNDER_WAY = 512;
// Before a question is asked again.
const ATTEMPT_MS = 2_000;
const ATTEMPTS = 2;
// Some name servers never answer for addresses of IPv6.
const SECOND_FAMILY_MS = 500;

/**
 * Resolves names by asking name servers from the event loop, so that names that are never answered hold back nothing
 * else: `dns.lookup` occupies a thread of the pool that also reads files, for as long as the name servers are silent,
 * and cannot be canceled. The hosts file, the search list and `localhost` count as there; other sources of
 * nsswitch.conf do not. Concurrent callers for one name share one look-up; at most 512 names are looked up together.
 */
export function createResolver({ servers = [], timeoutMs = TIMEOUT_MS }: ResolverOptions = {}): NameResolver {
  const underWay = new Map<string, Promise<LookupAddress[]>>();
  return (name) => {
    const running = underWay.get(name);
    if (running !== undefined) return running;
    if (underWay.size >= MAX_UNDER_WAY)
      return Promise.reject(failure("EAI_AGAIN", name, "too many names are being resolved"));
    const started = resolveName(name, servers, timeoutMs).finally(() => underWay.delete(name));
    underWay.set(name, started);
    return started;
  };
}

async function resolveName(name: string, servers: readonly string[], timeoutMs: number): Promise<LookupAddress[]> {
  const family = isIP(name);
  if (family !== 0) return [{ address: name, family }];
  const bare = name.toLowerCase().replace(/\.$/, "");
  const system = servers.length > 0 ? { hosts: new Map(), search: [], ndots: 1 } : await systemNames();
  const found = system.hosts.get(bare) ?? localhost(bare);
  if (found !== undefined) return found;
  const resolver = new Resolver({ timeout: ATTEMPT_MS, tries: ATTEMPTS });
  if (servers.length > 0) resolver.setServers(servers);
  const timer = setTimeout(() => resolver.cancel(), timeoutMs);
  const endMs = performance.now() + timeoutMs;
  try {
    let last: unknown;
    for (const full of fullNames(name, bare, system)) {
      if (performance.now() >= endMs) break;
      try {
        return await addressesOf(resolver, full);
      } catch (error) {
        last = error;
      }
    }
    throw last ?? failure("EAI_AGAIN", name, "no answer in time");
  } finally {
    clearTimeout(timer);
  }
}

/** Source: RFC 6761 §6.3. */
function localhost(name: string): LookupAddress[] | undefined {
  if (name !== "localhost" && !name.endsWith(".localhost")) return undefined;
  return [
    { address: "127.0.0.1", family: 4 },
    { address: "::1", family: 6 },
  ];
}

/** The names to ask for, in order. Source: resolv.conf(5). */
function fullNames(name: string, bare: string, { search, ndots }: SystemNames): string[] {
  if (name.endsWith(".")) return [bare];
  const within = search.map((domain) => `${bare}.${domain}`);
  return bare.split(".").length > ndots ? [bare, ...within] : [...within, bare];
}

async function addressesOf(resolver: Resolver, name: string): Promise<LookupAddress[]> {
  let timer: NodeJS.Timeout | undefined;
  const asked = [resolver.resolve4(name), resolver.resolve6(name)];
  for (const each of asked) {
    each.then(
      () => (timer ??= setTimeout(() => resolver.cancel(), SECOND_FAMILY_MS)),
      () => {},
    );
  }
  const answers = await Promise.allSettled(asked);
  clearTimeout(timer);
  const addresses = answers.flatMap((answer, at) =>
    answer.status === "fulfilled" ? answer.value.map((address) => ({ address, family: at === 0 ? 4 : 6 })) : [],
  );
  if (addresses.length > 0) return addresses;
  const isAbsent = answers.every(
    (answer) => answer.status === "fulfilled" || ["ENOTFOUND", "ENODATA"].includes(codeOf(answer.reason)),
  );
  throw isAbsent ? failure("ENOTFOUND", name, "no address") : failure("EAI_AGAIN", name, "no answer");
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function failure(code: string, hostname: string, why: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code} ${hostname}: ${why}`), { code, syscall: "resolve", hostname });
}
