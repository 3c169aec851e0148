import type { Call } from "../../core/call.ts";
import { Code, MoorageError } from "../../errors.ts";
import type { Row } from "../../store/index.ts";
import { artifactNamed } from "../artifacts/names.ts";
import { removedOf } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../http/exchange.ts";
import { groupFor } from "../http/groups.ts";
import { type Gate, gateFor } from "../policies/gate.ts";
import type { UpstreamDocument } from "../upstreams/documents.ts";
import { upstreamFor, type UpstreamSettings } from "../upstreams/settings.ts";
import { isUpstreamName, type NpmOffer, offerAdapter } from "./upstream-document.ts";

/** A package that a path names. */
export interface Named {
  group: readonly string[];
  name: string;
}

/** What is known of a package before its versions are read. */
export interface KnownPackage {
  group: string;
  name: string;
  artifact: Row<"artifacts"> | undefined;
  gate: Gate;
  /** The upstream that is asked for it; undefined when nobody is. */
  settings: UpstreamSettings | undefined;
  /** How many versions the group has removed under a name that it merges: those of the upstream are not served. */
  removed: number;
}

/** The same, with what the upstream says. */
export interface FoundPackage extends KnownPackage {
  document: UpstreamDocument<NpmOffer> | undefined;
}

/** What a path names, of the group and of its upstream. Throws 403, and 404 when neither can have it. */
export async function knownPackage(call: Call, { ecosystem }: LibraryExchange, named: Named): Promise<KnownPackage> {
  const { name } = named;
  const group = await groupFor(call, named.group, ecosystem.read);
  const artifact = await artifactNamed(call.tx, { group, ecosystem, normalized: name });
  const settings = await askedFor(call, { group, ecosystem, normalized: name });
  if (artifact === undefined && settings === undefined) throw libraryError(404, `Not found: ${name}`);
  const removed = settings?.isMerged === true ? await removedOf(call.tx, { group, ecosystem, normalized: name }) : null;
  const gate = await gateFor(call, { group, ecosystem, normalized: name, name });
  return { group, name, artifact, settings, removed: removed?.size ?? 0, gate };
}

/** Nobody is asked for a name that differs from one of the group in upper-case letters alone. */
async function askedFor(call: Call, name: Parameters<typeof upstreamFor>[1]): Promise<UpstreamSettings | undefined> {
  if (!isUpstreamName(name.normalized)) return undefined;
  const settings = await upstreamFor(call, name);
  const normalized = name.normalized.toLowerCase();
  if (settings === undefined || normalized === name.normalized) return settings;
  return (await upstreamFor(call, { ...name, normalized })) && settings;
}

/** The package that a path names. Throws 403 and 404; 502 and 503 when the upstream fails and nothing is kept of it. */
export async function findPackage(exchange: LibraryExchange, named: Named): Promise<FoundPackage> {
  const known = await read(exchange, (call) => knownPackage(call, exchange, named));
  const document = await documentOf(exchange, known);
  if (document === undefined && known.artifact === undefined) throw libraryError(404, `Not found: ${named.name}`);
  return { ...known, document };
}

/** What the upstream says of a package; undefined when it has none, or when it fails and the group has versions. */
async function documentOf(
  exchange: LibraryExchange,
  { name, settings, artifact }: KnownPackage,
): Promise<UpstreamDocument<NpmOffer> | undefined> {
  if (settings === undefined) return undefined;
  try {
    return await exchange.deps.upstreams.documents.of(settings, name, offerAdapter(settings, name));
  } catch (error) {
    if (artifact === undefined || !(error instanceof MoorageError) || error.code !== Code.Unavailable) throw error;
    return undefined;
  }
}
