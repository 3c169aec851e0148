import { Capability, CapabilitySchema } from "@moorage/api";
import { parentOf } from "../lib/uid.ts";
import type { Call, Caller } from "../core/call.ts";
import type { Database } from "../store/index.ts";
import { type Resolved, resolveRepository } from "../core/image-path.ts";
import { RegistryError } from "./errors.ts";
import { publicMay } from "./anonymous.ts";
import type { PublicReference, PublicSettings } from "./anonymous.ts";

/** What a pull takes. Source: contract §7. */
export const PULL: Capability[] = [Capability.CAP_MANIFEST_LIST, Capability.CAP_REPO_BLOBS_GET];
/** What a push takes, beside what its tag does. */
export const PUSH: Capability[] = [Capability.CAP_MANIFEST_CREATE];

/** The image's path by the names of today, as `acme/team/api`. */
export async function pathOf(tx: Database, uid: string): Promise<string> {
  const repo = await tx.selectFrom("repos").select("name").where("uid", "=", uid).executeTakeFirst();
  const uids: string[] = [];
  for (let group = parentOf(uid); group !== ""; group = parentOf(group)) uids.push(group);
  const groups = new Map(
    (await tx.selectFrom("groups").select(["uid", "name"]).where("uid", "in", uids).execute()).map(
      ({ uid: group, name }) => [group, name],
    ),
  );
  return [...uids.toReversed().map((group) => groups.get(group)), repo?.name]
    .filter((name) => name !== undefined)
    .join("/");
}

/**
 * The uid of the repo, when the caller holds all the capabilities there. DENIED 403 without them — also where they
 * would be needed on the innermost group that exists, so that a stranger cannot tell what does; NAME_UNKNOWN 404 when
 * the caller would be allowed but there is no such repo.
 */
export async function repositoryFor(call: Call, name: string, ...capabilities: Capability[]): Promise<string> {
  const { repo, group } = await resolveRepository(call, name);
  const lacking = await lackingOf(call, repo ?? group, capabilities);
  if (lacking.length > 0) throw denied(call, name, lacking);
  if (repo === undefined) throw nameUnknown(name);
  return repo;
}

/**
 * The uid of the repo, when the caller may read the tag or digest there: by the capabilities, or because anybody may.
 * DENIED 403 and NAME_UNKNOWN 404 as in `repositoryFor`; which images the public organization has is no secret.
 */
export async function pullableRepository(
  call: Call,
  settings: PublicSettings,
  name: string,
  reference: PublicReference,
  capabilities = PULL,
): Promise<string> {
  const { repo, group } = await resolveRepository(call, name);
  const lacking = await lackingOf(call, repo ?? group, capabilities);
  const may = lacking.length === 0;
  if (repo !== undefined && (may || (await publicMay(call, settings, repo, reference)))) return repo;
  if (repo === undefined && (may || name.startsWith(`${settings.publicOrganization}/`))) throw nameUnknown(name);
  throw denied(call, name, lacking);
}

/**
 * Where a push goes. DENIED without the capability to push there, or to create what is missing of the path. Nothing is
 * made yet. Source: contract §8.
 */
export async function pushPlace(call: Call, name: string): Promise<Resolved> {
  const place = await resolveRepository(call, name);
  const lacking = await lackingToPush(call, place);
  if (lacking.length > 0) throw denied(call, name, lacking);
  return place;
}

/**
 * What the caller lacks to push to a path, and to make what is missing of it; the organization is never made. Whoever
 * may not push at all lacks just that: what exists is not told.
 */
export async function lackingToPush(call: Call, { repo, group, missing }: Resolved): Promise<Capability[]> {
  const lacking = await lackingOf(call, repo ?? group, PUSH);
  if (lacking.length > 0) return lacking;
  const create = [
    ...(missing.length > 0 ? [Capability.CAP_REPO_CREATE] : []),
    ...(missing.length > 1 ? [Capability.CAP_IAM_GROUPS_CREATE] : []),
  ];
  return lackingOf(call, group, create);
}

/** Which of the capabilities the caller does not hold at the place; all of them where there is none. */
export async function lackingOf(
  call: Call,
  place: string | undefined,
  capabilities: readonly Capability[],
): Promise<Capability[]> {
  const lacking: Capability[] = [];
  for (const capability of capabilities)
    if (place === undefined || !(await call.may(capability, place))) lacking.push(capability);
  return lacking;
}

/**
 * Says which right is missing: of whom, which, and for what path as it was asked for. The rights asked for do not
 * depend on whether the repository exists, so the answer does not tell it. The metadata go along from the writing
 * thread.
 */
export function denied({ caller }: Pick<Call, "caller">, name: string, lacking: readonly Capability[]): RegistryError {
  const names = capabilityNames(lacking);
  const detail = { identity: caller.identity, capability: names.join(" and "), repository: name };
  const words = lackInWords(caller, `${names.join(" and ")} for ${name}`);
  return new RegistryError("DENIED", `Permission denied: ${words}`, { detail, details: { metadata: detail } });
}

/** A narrowed token may lack what the bindings of its identity give. */
function lackInWords({ identity, capabilities, scopes }: Caller, what: string): string {
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
