import type { Call } from "../../core/call.ts";
import { removedOf } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read, upstreamsOf } from "../requests/exchange.ts";
import { groupFor } from "../http/groups.ts";
import type { UpstreamDocument } from "../upstreams/documents.ts";
import { failureAnswer, unlessKept, UpstreamFailure } from "../upstreams/errors.ts";
import { knownName, type KnownName } from "../upstreams/known.ts";
import { upstreamFor, type UpstreamSettings } from "../upstreams/settings.ts";
import { isUpstreamName, wantedPackage } from "./upstream-document.ts";

/** A package that a path names. */
export interface Named {
  group: readonly string[];
  name: string;
}

/** What is known of a package before its versions are read. */
export interface KnownPackage extends KnownName {
  name: string;
}

/** The same, with what the upstream says. */
export interface FoundPackage extends KnownPackage {
  document: UpstreamDocument<"npm.package"> | undefined;
}

/** What a path names, of the group and of its upstream. Throws 403, and 404 when neither can have it. */
export async function knownPackage(call: Call, { ecosystem }: LibraryExchange, named: Named): Promise<KnownPackage> {
  const { name } = named;
  const group = await groupFor(call, named.group, ecosystem.read);
  const settings = await askedFor(call, { group, ecosystem, normalized: name });
  const known = await knownName(call, { group, ecosystem, normalized: name, name }, settings);
  if (known === undefined) throw libraryError(404, `Not found: ${name}`);
  return { ...known, name };
}

async function askedFor(call: Call, name: Parameters<typeof upstreamFor>[1]): Promise<UpstreamSettings | undefined> {
  return isUpstreamName(name.normalized) ? await upstreamFor(call, name) : undefined;
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
): Promise<UpstreamDocument<"npm.package"> | undefined> {
  if (settings === undefined) return undefined;
  const { documents } = upstreamsOf(exchange);
  return await unlessKept(artifact !== undefined, () => documents.of(settings, name, wantedPackage(settings, name)));
}

/** Whether the group has removed this version of a package that it merges: nobody gets it any more, from anywhere. */
export async function isRemoved(
  exchange: LibraryExchange,
  { group, name, settings }: FoundPackage,
  version: string,
): Promise<boolean> {
  if (settings?.isMerged !== true) return false;
  const { ecosystem } = exchange;
  return (await read(exchange, ({ tx }) => removedOf(tx, { group, ecosystem, normalized: name }))).has(version);
}

/** Of a version that is not offered: undefined when the upstream has none. Throws 502 for one that is not served. */
export async function notServed({ document, name }: FoundPackage, version: string): Promise<undefined> {
  const { tooLarge = [] } = (await document?.head()) ?? {};
  if (tooLarge.includes(version))
    throw failureAnswer(new UpstreamFailure("wrong", `its manifest of ${name}@${version} is too large to be served`));
  return undefined;
}
