import { organizationOf } from "@moorage/kernel/lib/uid";
import type { StoredManifest } from "../../oci/index.ts";
import { makeStandInRepo, type StandInRequest } from "../../oci/index.ts";
import { noteTagCheck } from "../../upstreams/index.ts";
import { type MirrorDeps, mirrorCall } from "../context.ts";
import type { CopyQueue } from "../copy-queue.ts";
import { UpstreamError } from "../errors.ts";
import { companionOf } from "../followed-tags.ts";
import type { Upstream } from "../registry-client.ts";
import { noteSeen, oldDigestOf, tooYoung, tooYoungUntil } from "./cooldown.ts";
import type { FetchLimit } from "../fetch-limit.ts";
import type { StandInClients } from "./sources.ts";

/** What a registry has under a reference, compared with what is here. */
export type Checked =
  | { kind: "same" }
  | { kind: "missing" }
  /** Another manifest, which is copied to the repo. */
  | { kind: "new"; stored: StoredManifest; repo: string };

export interface CheckDeps {
  deps: MirrorDeps;
  clients: StandInClients;
  copies: CopyQueue;
  limit: FetchLimit;
  signal: AbortSignal;
}

/** For one check, whoever waits for it. */
const LONGEST_CHECK_MS = 60_000;

/** Runs checks: once for all who ask for the same while it is under way. */
export function createChecks(context: CheckDeps): (request: StandInRequest) => Promise<Checked> {
  const underWay = new Map<string, Promise<Checked>>();
  return (request) => {
    const key = keyOf(request);
    const running = underWay.get(key);
    if (running !== undefined) return running;
    const started = context
      .limit(organizationOf(request.place.standIn.group), () => check(context, request))
      .finally(() => underWay.delete(key));
    underWay.set(key, started);
    return started;
  };
}

/** What requests for the same have in common. */
export function keyOf({ place: { standIn, path }, reference }: StandInRequest): string {
  return JSON.stringify([standIn.uid, standIn.name, path, reference]);
}

async function check(context: CheckDeps, request: StandInRequest): Promise<Checked> {
  const { deps, clients, copies } = context;
  const { place, reference, held } = request;
  const { standIn, repo } = place;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(LONGEST_CHECK_MS)]);
  const upstream = clients.checks(standIn);
  try {
    const resolved = await upstream.resolve(reference, signal);
    if (resolved === undefined) return { kind: "missing" };
    if (standIn.cooldownMs > 0 && !isCompanion(reference))
      return await checkAged(context, request, resolved.digest, { upstream, signal });
    if (resolved.digest === held?.digest && repo !== undefined) {
      await deps.transactor.write(noteTagCheck, mirrorCall(deps), { repo, tag: reference });
      copies.addReferrers(clients.source(standIn, repo), resolved.digest);
      return { kind: "same" };
    }
    const stored = resolved.stored ?? (await upstream.manifest(resolved.digest, signal));
    return stored === undefined ? { kind: "missing" } : await kept(context, request, stored);
  } catch (error) {
    if (isNoSuch(error)) return { kind: "missing" };
    if (signal.aborted) throw new UpstreamError("unreachable", `${standIn.registry} does not answer`, { cause: error });
    throw error;
  }
}

/** The same with a cooldown: what is too young does not come, and the newest digest that is old enough does. */
async function checkAged(
  context: CheckDeps,
  request: StandInRequest,
  digest: string,
  { upstream, signal }: { upstream: Upstream; signal: AbortSignal },
): Promise<Checked> {
  const { deps } = context;
  const { place, reference, held } = request;
  const { standIn } = place;
  const repo = await repoOf(context, request);
  if (repo === undefined) return { kind: "missing" };
  await noteSeen(deps, { standIn, repo, path: place.path, digest, reference });
  const opensMs = await tooYoungUntil(deps, { standIn, repo, digest, reference });
  const wanted = opensMs === undefined ? digest : await oldDigestOf(deps, standIn, repo, reference);
  if (held !== undefined && (wanted ?? held.digest) === held.digest) {
    await deps.transactor.write(noteTagCheck, mirrorCall(deps), { repo, tag: reference });
    return { kind: "same" };
  }
  const stored = wanted === undefined ? undefined : await upstream.manifest(wanted, signal);
  if (stored !== undefined) return await kept(context, { ...request, place: { ...place, repo } }, stored);
  if (opensMs === undefined) return { kind: "missing" };
  throw tooYoung(request, opensMs);
}

function isCompanion(reference: string): boolean {
  return companionOf(reference) !== undefined;
}

/** The manifest that a digest names at the registry, for a repo that is not here yet. */
export async function fetchByDigest(context: CheckDeps, request: StandInRequest): Promise<Checked> {
  const { clients, limit } = context;
  const { standIn } = request.place;
  return await limit(organizationOf(standIn.group), async () => {
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(LONGEST_CHECK_MS)]);
    try {
      const stored = await clients.checks(standIn).manifest(request.reference, signal);
      return stored === undefined ? { kind: "missing" } : await kept(context, request, stored);
    } catch (error) {
      if (isNoSuch(error)) return { kind: "missing" };
      throw error;
    }
  });
}

/** Has a manifest copied to its repo, which is made if need be. */
async function kept(context: CheckDeps, request: StandInRequest, stored: StoredManifest): Promise<Checked> {
  const { deps, clients, copies } = context;
  const { place, reference, held } = request;
  const { standIn } = place;
  const repo = await repoOf(context, request);
  if (repo === undefined) return { kind: "missing" };
  await noteSeen(deps, { standIn, repo, path: place.path, digest: stored.digest, reference, stored });
  copies.add(clients.source(standIn, repo), reference, stored, held?.digest ?? "");
  return { kind: "new", stored, repo };
}

/** The repo, which is made if need be. */
async function repoOf({ deps }: CheckDeps, { place }: StandInRequest): Promise<string | undefined> {
  const { repo, path, standIn } = place;
  if (repo !== undefined) return repo;
  return (await deps.transactor.write(makeStandInRepo, mirrorCall(deps), { path, standIn })).repo;
}

/** Registries answer 401 or 403 to names that do not exist, or that our user may not pull. */
function isNoSuch(error: unknown): boolean {
  return error instanceof UpstreamError && error.kind === "refused" && error.status !== undefined;
}
