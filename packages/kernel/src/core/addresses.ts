import { type Config, type MirrorHost, type RegistryHost, settingError, variableOf } from "../config/index.ts";
import { type Host, parseHost } from "../lib/host.ts";
import { networks, peerAddress } from "../lib/network.ts";
import { type CalledOrigin, calledOrigin } from "./called-origin.ts";
import type { Request } from "./http.ts";

/**
 * The URLs of the installation as the client of a request reaches it, without a slash at the end. They are for
 * addresses in answers alone: issuer, audiences and what is stored have the URLs of the settings, whatever a client
 * calls.
 */
export interface Addresses {
  /** The platform API: the base URL that was set; without one, what the client called. */
  platform(request: Request): string;
  /** The registry: the URL that was set, or a host of MOORAGE_REGISTRY_HOSTS; without a URL, what the client called. */
  registry(request: Request): string;
  /** Whether the request came through one of the trusted proxies. */
  isProxied(request: Request): boolean;
  /** The mirror host that the client called; undefined for other hosts. `origin`: its URL. */
  mirror(request: Request): { origin: string; group: string } | undefined;
}

/** The settings that say under which names the installation is reached. */
export type AddressSettings = Pick<
  Config,
  "baseUrl" | "registryUrl" | "followsHost" | "registryHosts" | "mirrors" | "trustedProxies" | "tlsCert" | "port"
>;

type Scheme = CalledOrigin["scheme"];

/**
 * `settings` have every URL filled in, and the port that is listened on. Throws a ConfigError for a mirror host that is
 * also the registry's.
 */
export function createAddresses(settings: AddressSettings): Addresses {
  const { baseUrl, registryUrl, followsHost, registryHosts, mirrors, port } = settings;
  requireOtherHosts(settings);
  const isProxy = networks(variableOf("trustedProxies"), settings.trustedProxies);
  const scheme = settings.tlsCert === "" ? "http" : "https";
  const urlFor = (url: string, follows: boolean, hosts: readonly RegistryHost[]): ((request: Request) => string) => {
    if (!follows && hosts.length === 0) return () => url;
    const isOwn = isHostOf(url);
    return (request) => {
      const called = calledOrigin(request, { isProxy, scheme });
      const host = called && parseHost(called.host);
      if (called === undefined || host === undefined || isOwn(host)) return url;
      const entry = hosts.find((one) => isListed(one, host, called.scheme, port));
      if (entry === undefined && !follows) return url;
      return `${entry?.scheme ?? called.scheme}://${called.host}`;
    };
  };
  return {
    platform: urlFor(baseUrl, followsHost.platform, []),
    registry: urlFor(registryUrl, followsHost.registry, registryHosts),
    isProxied: ({ socket }) => isProxy(peerAddress(socket.remoteAddress ?? "")),
    mirror(request) {
      if (mirrors.length === 0) return undefined;
      const called = calledOrigin(request, { isProxy, scheme });
      const host = called && parseHost(called.host);
      if (called === undefined || host === undefined) return undefined;
      const entry = mirrors.find((one) => isListed({ ...one, scheme: undefined }, host, called.scheme, port));
      return entry && { origin: `${called.scheme}://${called.host}`, group: entry.group };
    },
  };
}

/** A host cannot be both: clients that have the registry as a mirror send `ns` with paths that have a prefix, too. */
function requireOtherHosts({ baseUrl, registryUrl, registryHosts, mirrors }: AddressSettings): void {
  const isOwn = ({ name }: MirrorHost): boolean =>
    [baseUrl, registryUrl].some((url) => new URL(url).hostname === name) ||
    registryHosts.some((one) => one.name === name);
  const both = mirrors.find(isOwn);
  if (both !== undefined) throw settingError("mirrors", `${both.name} is the registry's own host`);
}

function portOf(scheme: Scheme, port: number | undefined): number {
  return port ?? (scheme === "https" ? 443 : 80);
}

/** Whether a host is that of the URL. */
function isHostOf(url: string): (host: Host) => boolean {
  const { protocol, hostname, port: given } = new URL(url);
  const scheme = protocol === "https:" ? "https" : "http";
  const own = portOf(scheme, Number(given) || undefined);
  return ({ name, port }) => name === hostname && portOf(scheme, port) === own;
}

/** Without a port, an entry stands for the scheme's own port and for the one that is listened on. */
function isListed(entry: RegistryHost, { name, port }: Host, called: Scheme, listening: number): boolean {
  if (entry.name !== name) return false;
  const scheme = entry.scheme ?? called;
  const used = portOf(scheme, port);
  return entry.port === undefined ? used === portOf(scheme, undefined) || used === listening : used === entry.port;
}
