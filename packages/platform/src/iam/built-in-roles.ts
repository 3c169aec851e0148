import { Capability, CapabilitySchema } from "@moorage/api/messages";
import { newUid } from "@moorage/kernel/lib/uid";
import type { Database } from "@moorage/kernel/store";
import { toColumn } from "./roles.ts";

const ALL = CapabilitySchema.values
  .map(({ number }) => number as Capability)
  .filter((capability) => capability !== Capability.CAPABILITY_UNSPECIFIED);
// Audit entries are only for owners and auditors, and events only for them and for callers that may subscribe to them:
// both contain personal data, and data of deleted resources. Blocks say who asked for what: they are for those who set
// the rules, too. How the installation is doing is for its owners.
const LISTS = CapabilitySchema.values
  .filter(
    ({ name }) =>
      name.endsWith("_LIST") &&
      !["CAP_IAM_AUDIT_LIST", "CAP_EVENTS_LIST", "CAP_OPERATIONS_LIST", "CAP_LIBRARIES_BLOCKS_LIST"].includes(name),
  )
  .map(({ number }) => number as Capability);
const isLibrary = (end: string) =>
  CapabilitySchema.values
    .filter(({ name }) => name.startsWith("CAP_LIBRARIES_") && name.endsWith(end))
    .map(({ number }) => number as Capability);
/** Installing libraries of any ecosystem, and publishing them. */
const INSTALL = isLibrary("_READ");
const PUBLISH = isLibrary("_PUBLISH");
/** Setting from where libraries and images of others come. */
const UPSTREAMS = CapabilitySchema.values
  .filter(({ name }) => /^CAP_(?:LIBRARIES|REGISTRY)_UPSTREAMS_/.test(name))
  .map(({ number }) => number as Capability);
/** Setting which versions of them clients get, and seeing what that kept from whom. */
const RULES = CapabilitySchema.values
  .filter(({ name }) => /^CAP_LIBRARIES_(?:POLICIES|BLOCKS)_/.test(name))
  .map(({ number }) => number as Capability);
const PULL = [
  Capability.CAP_IAM_GROUPS_LIST,
  Capability.CAP_REPO_LIST,
  Capability.CAP_REPO_BLOBS_GET,
  Capability.CAP_MANIFEST_LIST,
  Capability.CAP_MANIFEST_METADATA_LIST,
  Capability.CAP_TAG_LIST,
  Capability.CAP_REFERRERS_LIST,
  Capability.CAP_LIBRARIES_ARTIFACTS_LIST,
  ...INSTALL,
];
const PUSH = [
  Capability.CAP_REPO_CREATE,
  Capability.CAP_REPO_UPDATE,
  Capability.CAP_MANIFEST_CREATE,
  Capability.CAP_MANIFEST_UPDATE,
  Capability.CAP_TAG_CREATE,
  Capability.CAP_TAG_UPDATE,
  // Who signs an image reads it first.
  Capability.CAP_UNSIGNED_READ,
  ...PUBLISH,
];
// Not with what others did before: whoever may import histories may make up any.
const REPOS = CapabilitySchema.values
  .filter(({ name }) => /^CAP_(?:REPO|MANIFEST|TAG)_/.test(name) && name !== "CAP_TAG_IMPORT")
  .map(({ number }) => number as Capability);
const SUBSCRIPTIONS = CapabilitySchema.values
  .filter(({ name }) => name.startsWith("CAP_EVENTS_"))
  .map(({ number }) => number as Capability);
const VIEWER = [...LISTS, Capability.CAP_REPO_BLOBS_GET, ...INSTALL];

/** The roles that every installation has. Source: docs/contract.md, "Capabilities and roles". */
export const BUILT_IN_ROLES: readonly { name: string; description: string; capabilities: Capability[] }[] = [
  { name: "owner", description: "all capabilities", capabilities: ALL },
  {
    name: "editor",
    description:
      "lists everything but the audit log, reads events, pulls and pushes images, installs, publishes and removes libraries, changes and deletes repos with their policies and sources, tags, subscriptions, which groups stand for other registries, and upstreams and policies of libraries",
    capabilities: [
      ...VIEWER,
      ...REPOS,
      Capability.CAP_UNSIGNED_READ,
      ...PUBLISH,
      Capability.CAP_LIBRARIES_ARTIFACTS_DELETE,
      ...UPSTREAMS,
      ...RULES,
      ...SUBSCRIPTIONS,
    ],
  },
  {
    name: "viewer",
    description: "lists everything but the audit log, events and blocks of libraries, pulls images, installs libraries",
    capabilities: VIEWER,
  },
  {
    name: "auditor",
    description: "lists everything, the audit log and events included, pulls and changes nothing",
    capabilities: [
      ...LISTS,
      Capability.CAP_IAM_AUDIT_LIST,
      Capability.CAP_EVENTS_LIST,
      Capability.CAP_LIBRARIES_BLOCKS_LIST,
    ],
  },
  {
    name: "limited_owner",
    description:
      "lists everything but the audit log, events and blocks of libraries, pulls images, installs libraries, creates identities and gives them roles that it holds",
    capabilities: [...VIEWER, Capability.CAP_IAM_IDENTITY_CREATE, Capability.CAP_IAM_ROLE_BINDINGS_CREATE],
  },
  {
    name: "console_viewer",
    description: "lists everything but the audit log, events and blocks of libraries, pulls and changes nothing",
    capabilities: LISTS,
  },
  {
    name: "registry.pull",
    description: "lists groups, repos, tags, manifests and libraries, pulls images, installs libraries",
    capabilities: PULL,
  },
  {
    name: "registry.push",
    description:
      "lists groups, repos, tags, manifests and libraries, pulls and pushes images, installs and publishes libraries, creates and changes repos, but not their policies and sources",
    capabilities: [...PULL, ...PUSH],
  },
  {
    name: "registry.pull_token_creator",
    description:
      "lists groups, repos, tags, manifests, libraries, identities, roles and role bindings, pulls images, installs libraries, creates identities and gives them roles that it holds",
    capabilities: [
      ...PULL,
      Capability.CAP_IAM_IDENTITY_CREATE,
      Capability.CAP_IAM_IDENTITY_LIST,
      Capability.CAP_IAM_ROLES_LIST,
      Capability.CAP_IAM_ROLE_BINDINGS_CREATE,
      Capability.CAP_IAM_ROLE_BINDINGS_LIST,
    ],
  },
];

/** Creates the built-in roles, and updates those of an older version. Returns their uids by name. */
export async function ensureBuiltInRoles(tx: Database, nowMs: number): Promise<Map<string, string>> {
  const found = await tx.selectFrom("roles").select(["uid", "name"]).where("parent", "=", "").execute();
  const uids = new Map(found.map(({ uid, name }) => [name, uid]));
  for (const { name, description, capabilities } of BUILT_IN_ROLES) {
    const column = toColumn(capabilities);
    const uid = uids.get(name);
    if (uid === undefined) {
      uids.set(name, newUid(""));
      await tx
        .insertInto("roles")
        .values({
          uid: uids.get(name) ?? "",
          parent: "",
          name,
          description,
          capabilities: column,
          create_time: nowMs,
          update_time: nowMs,
        })
        .execute();
    } else {
      await tx
        .updateTable("roles")
        .set({ description, capabilities: column, update_time: nowMs })
        .where("uid", "=", uid)
        .where((where) => where.or([where("capabilities", "!=", column), where("description", "!=", description)]))
        .execute();
    }
  }
  return uids;
}
