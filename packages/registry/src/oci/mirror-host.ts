import { networks } from "@moorage/kernel/lib/network";
import type { Call } from "@moorage/kernel/core/call";
import { mirroredName, type MirroredName } from "../upstreams/index.ts";
import { RegistryError } from "./errors.ts";
import type { Exchange } from "./request.ts";

const MAX_NS = 300;

/**
 * Enters a request to a mirror host: its name becomes that below the group which stands for the registry that the
 * client asks for. Throws DENIED for what is no pull, and NAME_UNKNOWN 404 where no group stands for the registry.
 */
export async function enterMirror(exchange: Exchange, mirror: { origin: string; group: string }): Promise<void> {
  const { req, name, query } = exchange;
  if (req.method !== "GET" && req.method !== "HEAD")
    throw new RegistryError("DENIED", "Permission denied: images are only pulled from this host");
  const ns = query.get("ns") ?? undefined;
  exchange.mirror = { ...mirror, ns: ns?.slice(0, MAX_NS), name };
  if (name === "") return;
  const found = await mirrored(exchange, name);
  if (found === undefined)
    throw new RegistryError("NAME_UNKNOWN", "Repository not found: no group of this host stands for the registry");
  exchange.name = found.path;
}

/** What a name means at the mirror host that was called; undefined where no group stands for the registry. */
export async function mirrored({ deps, callData, mirror }: Exchange, name: string): Promise<MirroredName | undefined> {
  if (mirror === undefined) return undefined;
  const { group, ns } = mirror;
  return await deps.transactor.read(callData, (call: Call) => mirroredName(call, { group, ns, name }));
}

/**
 * Whether credentials that are not known here count as none: those of a client in a network of which the upstream says
 * so, which may be meant for the registry that it stands for.
 */
export async function countsAsAnonymous(exchange: Exchange): Promise<boolean> {
  if (exchange.mirror === undefined) return false;
  const found = await mirrored(exchange, "any");
  return found !== undefined && networks("", found.anonymousNetworks)(exchange.data.remoteAddress);
}
