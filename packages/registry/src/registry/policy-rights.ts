import { create, toJsonString } from "@bufbuild/protobuf";
import { CapabilitySchema, type Repo, ReposService, SyncConfigSchema, TagPolicySchema } from "@moorage/api/messages";
import { fieldCapabilities } from "@moorage/kernel/aip/access";
import type { Call } from "@moorage/kernel/core/call";
import { permissionDenied } from "@moorage/kernel/errors";
import { syncConfigText } from "./syncs.ts";

const NEEDED = fieldCapabilities(ReposService.method.updateRepo);

/** The fields that decide what may happen to a repo's images, each with its value as text: empty for none. */
const POLICIES = [
  { field: "tag_policy", name: "tagPolicy", textOf: policyText },
  { field: "sync_config", name: "syncConfig", textOf: sourceText },
] as const;

/**
 * Whoever changes a repo's policy or its source needs the capability that the method names for these fields, on `uid`:
 * the repo, or the parent of a new one, which has no `before`. A field that is named and stays as it is needs nothing.
 * A repo that has a policy or a source needs it for another name, too: a push to the old name would make a repo without
 * them. Throws PERMISSION_DENIED.
 */
export async function requirePolicyRights(
  call: Call,
  uid: string,
  before: Repo | undefined,
  after: Repo,
): Promise<void> {
  const isRenamed = before !== undefined && before.name !== after.name;
  for (const { field, name, textOf } of POLICIES) {
    const was = textOf(before);
    const isChanged = was !== textOf(after);
    const capability = NEEDED.get(field);
    if (capability === undefined || (!isChanged && !(isRenamed && was !== ""))) continue;
    if (await call.may(capability, uid)) continue;
    const missing = CapabilitySchema.value[capability]?.name ?? "";
    const why = isChanged ? `to change ${name}` : `to rename a repo that has a ${name}`;
    throw permissionDenied(`the caller lacks ${missing}, which is needed ${why}`, { missing });
  }
}

/**
 * Whoever says by another resource which policy repos get needs what a change of theirs needs, on `uid`, a group above
 * them. `why`: to what end, in words. Throws PERMISSION_DENIED.
 */
export async function requireTagPolicyRight(call: Call, uid: string, why: string): Promise<void> {
  const capability = NEEDED.get("tag_policy");
  if (capability === undefined || (await call.may(capability, uid))) return;
  const missing = CapabilitySchema.value[capability]?.name ?? "";
  throw permissionDenied(`the caller lacks ${missing}, which is needed ${why}`, { missing });
}

// An empty policy is none.
function policyText(repo: Repo | undefined): string {
  const text = repo?.tagPolicy === undefined ? "{}" : toJsonString(TagPolicySchema, repo.tagPolicy);
  return text === "{}" ? "" : text;
}

// A password is not read back, so one that is set is always a change. Clients of v1 send what is not set as false.
function sourceText(repo: Repo | undefined): string {
  const { uniqueTags, gracePeriod, $typeName: _, ...config } = repo?.syncConfig ?? create(SyncConfigSchema);
  const set = { ...(uniqueTags === true && { uniqueTags }), ...(gracePeriod === true && { gracePeriod }) };
  const text = syncConfigText(create(SyncConfigSchema, { ...config, ...set })) ?? "";
  const password = repo?.syncConfig?.password ?? "";
  return text === "{}" && password === "" ? "" : `${text} ${password}`;
}
