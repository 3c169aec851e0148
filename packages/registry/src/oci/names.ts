import { Capability, CapabilitySchema } from "@moorage/api/messages";
import type { Call, Caller } from "@moorage/kernel/core/call";
import { pathOf, type Resolved, resolveRepository } from "@moorage/kernel/core/image-path";
import { repoOfAlias } from "../registry/index.ts";
import { originOf, type StandIn, standInFor, standsForWords } from "../upstreams/index.ts";
import { RegistryError } from "./errors.ts";
import { publicMay, publicMayCome } from "./anonymous.ts";
import type { PublicReference, PublicSettings } from "./anonymous.ts";

/** The capabilities that a pull needs. Source: docs/contract.md, "Capabilities and roles". */
export const PULL: Capability[] = [Capability.CAP_MANIFEST_LIST, Capability.CAP_REPO_BLOBS_GET];
/** The capabilities that a push needs, beside those for its tags. */
export const PUSH: Capability[] = [Capability.CAP_MANIFEST_CREATE];

/**
 * The uid of the repo, when the caller holds all the capabilities there. Throws DENIED 403 without them; for a path
 * that does not exist they are checked on the innermost group that does, so that a stranger cannot find out which paths
 * exist. Throws NAME_UNKNOWN 404 when the caller holds them but there is no such repo.
 */
export async function repositoryFor(call: Call, name: string, ...capabilities: Capability[]): Promise<string> {
  readRights(call);
  return requireRepository(call, name, await resolveRepository(call, name), capabilities);
}

/** Has the caller's rights read beside the path: a call reads them once, and PostgreSQL gets both in one packet. */
function readRights(call: Call): void {
  const asked = call.may(Capability.CAP_MANIFEST_LIST, "");
  // Whoever asks for a right gets the same failure.
  if (asked instanceof Promise) asked.catch(() => {});
}

/** The same for a path that was resolved before. */
async function requireRepository(
  call: Call,
  name: string,
  { repo, group }: Resolved,
  capabilities: Capability[],
): Promise<string> {
  const lacking = await lackingOf(call, repo ?? group, capabilities);
  if (lacking.length > 0) throw denied(call, name, lacking);
  if (repo === undefined) throw nameUnknown(name);
  return repo;
}

/**
 * The uid of the repo of which the last name of the path is an alias. Only reads resolve aliases, and only where no
 * repo has the name.
 */
async function aliasedRepository(call: Call, { repo, group, missing }: Resolved): Promise<string | undefined> {
  const [alias] = missing;
  if (repo !== undefined || group === undefined || alias === undefined || missing.length > 1) return undefined;
  return repoOfAlias(call.tx, group, alias);
}

/** What a path means to a pull: by an alias, too, and below a group that stands for another registry. */
type ResolvedPull = Resolved & { front?: { standIn: StandIn; canonical: string } };

/** Resolves the path of a pull. `front`: the repository of another registry that it means; there is no repo then. */
async function resolveForPull(call: Call, name: string): Promise<ResolvedPull> {
  const resolved = await resolveRepository(call, name);
  const repo = resolved.repo ?? (await aliasedRepository(call, resolved));
  if (repo !== undefined) return { ...resolved, repo };
  const front = resolved.group === undefined ? undefined : await standInFor(call.tx, resolved.group, name.split("/"));
  if (front === undefined) return resolved;
  if (front.canonical === name) return { ...resolved, front };
  const canonical = await resolveRepository(call, front.canonical);
  return canonical.repo === undefined ? { ...canonical, front } : canonical;
}

/** What a pull finds: a repo, or a repository of another registry of which nothing is here. */
export interface PullPlace {
  /** The uid of the repo; undefined while nothing is here. */
  repo: string | undefined;
  /** The repository of another registry that it came from, or would come from. */
  standIn: StandIn | undefined;
  /** The path under which the repo is here, or would be. */
  path: string;
}

/**
 * The place that a pull of the tag or digest finds, when the caller may read that there: by the capabilities, or
 * because it is public. The last name of the path may be an alias of the repo. Throws DENIED 403 and NAME_UNKNOWN 404
 * as `repositoryFor` does, and DENIED for what the rules of an upstream do not let through; the names of the images in
 * the public organization are not secret.
 */
export async function pullablePlace(
  call: Call,
  settings: PublicSettings,
  name: string,
  reference: PublicReference,
  capabilities = PULL,
): Promise<PullPlace> {
  readRights(call);
  const { repo, group, front, hasStandIns } = await resolveForPull(call, name);
  const origin = repo === undefined || hasStandIns === false ? undefined : await originOf(call.tx, repo);
  const lacking = mayAtCenter(call.caller, repo === undefined ? front?.standIn : origin, capabilities)
    ? []
    : await lackingOf(call, repo ?? group, capabilities);
  const may = lacking.length === 0;
  const isPublic =
    !may &&
    (repo === undefined
      ? front !== undefined && group !== undefined && (await publicMayCome(call, settings, group, reference))
      : await publicMay(call, settings, repo, reference));
  if (!may && !isPublic && (repo !== undefined || !name.startsWith(`${settings.publicOrganization}/`)))
    throw denied(call, name, lacking);
  const standIn = repo === undefined && (may || isPublic) ? front?.standIn : origin;
  if (standIn?.isAllowed === false) throw notAllowed(name, standIn);
  if (repo === undefined && standIn === undefined) throw nameUnknown(name);
  return { repo, standIn, path: front?.canonical ?? name };
}

/** The uid of the repo of a pull: as `pullablePlace`, and throws NAME_UNKNOWN 404 while nothing is here. */
export async function pullableRepository(
  call: Call,
  settings: PublicSettings,
  name: string,
  reference: PublicReference,
  capabilities = PULL,
): Promise<string> {
  const { repo } = await pullablePlace(call, settings, name, reference, capabilities);
  if (repo === undefined) throw nameUnknown(name);
  return repo;
}

/** Whether the caller has a pull token of a center that may pull there what is here from it. */
function mayAtCenter({ center }: Caller, origin: StandIn | undefined, capabilities: readonly Capability[]): boolean {
  if (center === undefined || origin === undefined || capabilities.some((each) => !PULL.includes(each))) return false;
  return center.some(({ upstream, name }) => upstream === origin.uid && name === origin.name);
}

function notAllowed(name: string, { name: there, registry }: StandIn): RegistryError {
  return new RegistryError(
    "DENIED",
    `Permission denied: ${name}: the rules here do not let ${there} of ${registry} through`,
  );
}

/** The uid of the repo, when the caller may list its tags. As `repositoryFor`, and by an alias of the repo as well. */
export async function listableRepository(call: Call, name: string): Promise<string> {
  return requireRepository(call, name, await resolveForPull(call, name), [Capability.CAP_TAG_LIST]);
}

/**
 * Resolves the path that a push goes to; creates nothing. Throws DENIED without the capability to push there, or to
 * create what is missing of the path, or where a group stands for another registry, and NAME_INVALID for an alias,
 * which names the repo to push to. Source: docs/contract.md, "Registry".
 */
export async function resolveForPush(call: Call, name: string): Promise<Resolved> {
  readRights(call);
  const resolved = await resolveRepository(call, name);
  const lacking = await lackingToPush(call, resolved);
  if (lacking.length > 0) throw denied(call, name, lacking);
  const { repo, group = "", hasStandIns } = resolved;
  const standsFor = hasStandIns === false ? undefined : await standsForWords(call.tx, repo ?? group, name.split("/"));
  if (standsFor !== undefined) throw new RegistryError("DENIED", `Permission denied: ${standsFor}`);
  const aliased = await aliasedRepository(call, resolved);
  if (aliased !== undefined) {
    const path = await pathOf(call.tx, aliased);
    throw new RegistryError("NAME_INVALID", `Name invalid: ${name} is an alias of ${path}: push to that`, {
      detail: { name, repository: path },
      details: { metadata: { name, repository: path } },
    });
  }
  return resolved;
}

/**
 * The capabilities that the caller lacks to push to a path and to create what is missing of it; a missing organization
 * is never created. For a caller without the right to push only that right is listed, so that the answer does not
 * reveal what exists.
 */
export async function lackingToPush(call: Call, { repo, group, missing }: Resolved): Promise<Capability[]> {
  const lacking = await lackingOf(call, repo ?? group, PUSH);
  if (lacking.length > 0) return lacking;
  return lackingOf(call, group, neededToCreate(missing));
}

/** The capabilities that creating the missing part of a path needs, on its innermost group that exists. */
export function neededToCreate(missing: Resolved["missing"]): Capability[] {
  return [
    ...(missing.length > 0 ? [Capability.CAP_REPO_CREATE] : []),
    ...(missing.length > 1 ? [Capability.CAP_IAM_GROUPS_CREATE] : []),
  ];
}

/**
 * Those of the capabilities that the caller does not hold on the group or repo with the uid `scope`; all of them when
 * that is undefined.
 */
export async function lackingOf(
  call: Call,
  scope: string | undefined,
  capabilities: readonly Capability[],
): Promise<Capability[]> {
  const lacking: Capability[] = [];
  for (const capability of capabilities)
    if (scope === undefined || !(await call.may(capability, scope))) lacking.push(capability);
  return lacking;
}

/**
 * The error for a missing right. It names the identity, the capabilities and the path as it was requested. The
 * capabilities do not depend on whether the repository exists, so the error does not reveal that. The metadata repeat
 * the detail, which does not cross from the writer thread.
 */
export function denied({ caller }: Pick<Call, "caller">, name: string, lacking: readonly Capability[]): RegistryError {
  const names = capabilityNames(lacking);
  const detail = { identity: caller.identity, capability: names.join(" and "), repository: name };
  const words = describeLack(caller, `${names.join(" and ")} for ${name}`);
  return new RegistryError("DENIED", `Permission denied: ${words}`, { detail, details: { metadata: detail } });
}

/** Describes the missing right; a narrowed token may lack a capability that the role bindings of its identity give. */
function describeLack({ identity, capabilities, scopes, center }: Caller, what: string): string {
  if (center !== undefined) return `a pull token of the center that is followed here lacks ${what}`;
  if (identity === "") return `an anonymous caller lacks ${what}`;
  if (capabilities || scopes) return `the narrowed token of identity ${identity} lacks ${what}`;
  return `identity ${identity} lacks ${what}: no role binding on a group of that path gives it`;
}

/** The names (CAP_…) of capabilities. */
export function capabilityNames(capabilities: readonly Capability[]): string[] {
  return capabilities.map((capability) => CapabilitySchema.value[capability]?.name ?? String(capability));
}

export function nameUnknown(name: string): RegistryError {
  return new RegistryError("NAME_UNKNOWN", `Repository not found: ${name}`, {
    details: { resource: { type: "moorage.registry.v2.Repo", name } },
  });
}
