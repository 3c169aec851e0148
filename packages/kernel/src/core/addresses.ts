import { type Config, type RegistryHost, variableOf } from "../config/index.ts";
import { type Host, parseHost } from "../lib/host.ts";
import { networks } from "../lib/network.ts";
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
}

/** The settings that say under which names the installation is reached. */
export type AddressSettings = Pick<
  Config,
  "baseUrl" | "registryUrl" | "followsHost" | "registryHosts" | "trustedProxies" | "tlsCert" | "port"
>;

type Scheme = CalledOrigin["scheme"];

/** `settings` have every URL filled in, and the port that is listened on. */
export function createAddresses(settings: AddressSettings): Addresses {
  const { baseUrl, registryUrl, followsHost, registryHosts, port } = settings;
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
  };
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
