import type { Call } from "../../core/call.ts";
import type { Row } from "../../store/index.ts";
import { artifactNamed } from "../artifacts/names.ts";
import { removedOf } from "../artifacts/visible.ts";
import { type Gate, gateFor, type JudgedArtifact } from "../policies/gate.ts";
import type { UpstreamSettings } from "./settings.ts";

/** What is known of a name before what its upstream says of it is read. */
export interface KnownName {
  /** The uid of the group. */
  group: string;
  artifact: Row<"artifacts"> | undefined;
  gate: Gate;
  /** The upstream that is asked for it; undefined when nobody is. */
  settings: UpstreamSettings | undefined;
  /** How many versions the group has removed under a name that it merges: those of the upstream are not served. */
  removed: number;
}

/** Looks the name up, at one moment. Undefined when neither the group nor an upstream can have it. Checks no rights. */
export async function knownName(
  call: Call,
  name: JudgedArtifact,
  settings: UpstreamSettings | undefined,
): Promise<KnownName | undefined> {
  const artifact = await artifactNamed(call.tx, name);
  if (artifact === undefined && settings === undefined) return undefined;
  const removed = settings?.isMerged === true ? (await removedOf(call.tx, name)).size : 0;
  return { group: name.group, artifact, settings, removed, gate: await gateFor(call, name) };
}

/**
 * Until when what is made of a name stays the same if nothing is committed, in milliseconds since 1970; undefined where
 * an upstream that says nothing may say something at any time. `untilMs`: when a hidden version opens.
 */
export function goodUntilMs(
  { settings, document }: Pick<KnownName, "settings"> & { document: { freshUntilMs: number } | undefined },
  { untilMs = Infinity }: { untilMs?: number | undefined },
): number | undefined {
  return settings === undefined ? untilMs : document && Math.min(document.freshUntilMs, untilMs);
}
