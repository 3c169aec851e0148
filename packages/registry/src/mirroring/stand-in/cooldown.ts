import { Code, MoorageError } from "@moorage/kernel/errors";
import { isDigest, type StandInRequest, type StoredManifest } from "../../oci/index.ts";
import { lastSighted, newestOld, noteSighting, opensAt, type StandIn } from "../../upstreams/index.ts";
import { type MirrorDeps, mirrorCall } from "../context.ts";
import { companionOf } from "../followed-tags.ts";

type AgeDeps = Pick<MirrorDeps, "transactor" | "clock" | "config">;

/** A manifest in its repo, which came from a registry. */
export interface Aged {
  standIn: StandIn;
  repo: string;
  /** The path of the repo. */
  path: string;
  digest: string;
  /** The tag or digest that was asked for. */
  reference: string;
  /** The manifest, where it has just come. */
  stored?: StoredManifest | undefined;
}

/**
 * Notes that a digest was seen at the registry, if there is a cooldown, or if callers without a log-in may pull it
 * before it has been copied.
 */
export async function noteSeen(deps: AgeDeps, aged: Aged): Promise<void> {
  const isOpen = mayBeFree(deps, aged);
  if (aged.standIn.cooldownMs === 0 && !isOpen) return;
  const { repo, digest, reference, stored } = aged;
  const tag = isDigest(reference) ? undefined : reference;
  // What cosign attaches by a tag is as old as the image.
  const subject = (tag && companionOf(tag)) ?? stored?.manifest.subject ?? "";
  const parts = (stored?.manifest.references ?? []).flatMap((each) =>
    isOpen || each.kind === "manifest" ? [each.digest] : [],
  );
  await deps.transactor.write(noteSighting, mirrorCall(deps), { repo, digest, tag, subject, parts });
}

/** Whether it may be of a free-tier tag of the public organization, or be a part of one. */
function mayBeFree({ config }: AgeDeps, { path, reference }: Aged): boolean {
  const { publicOrganization, freeTierTags } = config;
  const isOpen = freeTierTags.length > 0 && path.startsWith(`${publicOrganization}/`);
  return isOpen && (isDigest(reference) || freeTierTags.includes(reference));
}

/** When a digest will be old enough, in milliseconds since 1970; undefined when it is. */
export async function tooYoungUntil(
  deps: AgeDeps,
  { standIn, repo, digest }: Omit<Aged, "path">,
): Promise<number | undefined> {
  if (standIn.cooldownMs === 0) return undefined;
  const call = mirrorCall(deps);
  const opens = await deps.transactor.read(call, ({ tx }) => opensAt(tx, standIn, repo, digest));
  return opens !== undefined && opens > call.nowMs ? opens : undefined;
}

/**
 * Says that the registry has a newer image for the tag, which is too young to be answered in place of this one. Empty
 * when it has none.
 */
export async function newerWords(deps: AgeDeps, { standIn, repo, digest, reference }: Aged): Promise<string> {
  if (standIn.cooldownMs === 0 || isDigest(reference)) return "";
  const call = mirrorCall(deps);
  const { opens = 0 } = await deps.transactor.read(call, async ({ tx }) => {
    const last = await lastSighted(tx, repo, reference);
    return { opens: last === undefined || last === digest ? 0 : await opensAt(tx, standIn, repo, last) };
  });
  if (opens <= call.nowMs) return "";
  return `${standIn.registry} has a newer ${standIn.name}:${reference}, which is too young: opens at ${opensText(opens)}`;
}

/** The newest digest of a tag that is old enough. */
export async function oldDigestOf(
  deps: AgeDeps,
  standIn: StandIn,
  repo: string,
  tag: string,
): Promise<string | undefined> {
  const { digest } = await deps.transactor.read(mirrorCall(deps), async (call) => ({
    digest: await newestOld(call, standIn, repo, tag),
  }));
  return digest;
}

/** The error for what is too young. */
export function tooYoung({ place: { standIn }, reference }: StandInRequest, opensMs: number): MoorageError {
  const image = `${standIn.name}${isDigest(reference) ? "@" : ":"}${reference}`;
  const opens = opensText(opensMs);
  return new MoorageError(Code.PermissionDenied, `Permission denied: ${image} is too young: opens at ${opens}`, {
    metadata: { reason: "COOLDOWN", opens },
  });
}

function opensText(opensMs: number): string {
  return new Date(opensMs).toISOString().replace(/\.\d+Z$/, "Z");
}
