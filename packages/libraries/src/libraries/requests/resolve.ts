import type { Call } from "@moorage/kernel/core/call";
import type { Awaitable } from "@moorage/kernel/lib/awaitable";
import type { Row } from "@moorage/kernel/store";
import { artifactNamed } from "../artifacts/names.ts";
import { removedOf } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { groupFor } from "../http/groups.ts";
import { type Gate, gateFor } from "../policies/gate.ts";
import { type UpstreamSettings, upstreamFor } from "../upstreams/settings.ts";
import { type LibraryExchange, read } from "./exchange.ts";

/** The name of an artifact that a path has. */
export interface Named {
  /** The path of the group. */
  group: readonly string[];
  /** As policies and messages call it. */
  name: string;
  /** As the ecosystem compares names. */
  normalized: string;
  /** The message for where neither the group nor its upstream has it. */
  missing: string;
  /** Whether an upstream may be asked for it, at the time of the call. Defaults to yes. */
  mayAsk?(call: Call, group: string): Awaitable<boolean>;
  /**
   * Reads, at the same moment, what else the group has to answer with. Answers whether that is enough where it has no
   * such artifact. Defaults to no.
   */
  readBeside?(call: Call, group: string): Promise<boolean>;
}

/** What a name means in a group, before what its upstream says of it is read. */
export interface Resolved {
  named: Named;
  /** The uid of the group. */
  group: string;
  artifact: Row<"artifacts"> | undefined;
  gate: Gate;
  /** The upstream that is asked for it; undefined when nobody is. */
  settings: UpstreamSettings | undefined;
  /** How many versions the group has removed under a name that it merges: those of the upstream are not served. */
  removed: number;
  /** What the group has of it is enough to answer with when the upstream fails. */
  isEnough: boolean;
}

/**
 * Looks a name up, at one moment: the first step of whatever is read. Throws 403 without the right to read, and 404
 * when neither the group nor an upstream can have it.
 */
export async function resolve(call: Call, { ecosystem }: LibraryExchange, named: Named): Promise<Resolved> {
  const { normalized, name } = named;
  const group = await groupFor(call, named.group, ecosystem.read);
  const place = { group, ecosystem, normalized };
  const mayAsk = named.mayAsk === undefined || (await named.mayAsk(call, group));
  const settings = mayAsk ? await upstreamFor(call, place) : undefined;
  const artifact = await artifactNamed(call.tx, place);
  const hasBeside = (await named.readBeside?.(call, group)) === true;
  const isEnough = artifact !== undefined || hasBeside;
  if (!isEnough && settings === undefined) throw libraryError(404, named.missing);
  const removed = settings?.isMerged === true ? (await removedOf(call.tx, place)).size : 0;
  return { named, group, artifact, settings, removed, isEnough, gate: await gateFor(call, { ...place, name }) };
}

/** The versions that the group has removed of a name that it merges: nobody gets them any more, from anywhere. */
export async function removedIn(
  exchange: LibraryExchange,
  { group, named: { normalized }, settings }: Pick<Resolved, "group" | "named" | "settings">,
): Promise<ReadonlySet<string>> {
  if (settings?.isMerged !== true) return new Set();
  return await read(exchange, ({ tx }) => removedOf(tx, { group, ecosystem: exchange.ecosystem, normalized }));
}
