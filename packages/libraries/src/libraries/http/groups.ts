import { type Capability, CapabilitySchema } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { statement } from "@moorage/kernel/store";

const selectGroup = statement<{ uid: string }>("select uid from groups where parent = ? and name = ?", [
  "text",
  "text",
]);
const MAX_DEPTH = 16;

/** The group that a path of names is: its uid, and that of the innermost one that is there. */
interface FoundGroup {
  group?: string;
  innermost?: string;
}

/** Finds the group of a path such as `acme/team`. Checks no rights. */
export async function findGroup(call: Call, path: readonly string[]): Promise<FoundGroup> {
  let innermost: string | undefined;
  if (path.length === 0 || path.length > MAX_DEPTH) return {};
  for (const name of path) {
    const [found] = name.includes("\0") ? [] : await selectGroup(call.tx, innermost ?? "", name);
    if (found === undefined) return innermost === undefined ? {} : { innermost };
    innermost = found.uid;
  }
  return innermost === undefined ? {} : { group: innermost, innermost };
}

/**
 * The uid of the group with this path, on which the caller holds the capability. Throws PERMISSION_DENIED without it;
 * of a path that is not there it is asked for on the innermost group that is, so that a stranger does not learn which
 * groups there are. Throws NOT_FOUND for a caller who holds it where there is no such group.
 */
export async function groupFor(call: Call, path: readonly string[], capability: Capability): Promise<string> {
  const { group, innermost } = await findGroup(call, path);
  if (innermost === undefined || !(await call.may(capability, innermost)))
    throw denied(call, path.join("/"), capability);
  if (group === undefined)
    throw new MoorageError(Code.NotFound, `Group not found: ${path.join("/")}`, {
      resource: { type: "moorage.iam.v2.Group", name: path.join("/") },
    });
  return group;
}

/** Throws PERMISSION_DENIED unless the caller holds the capability on the group with this uid. */
export async function requireOn(call: Call, group: string, path: string, capability: Capability): Promise<void> {
  if (!(await call.may(capability, group))) throw denied(call, path, capability);
}

function denied({ caller }: Call, path: string, capability: Capability): MoorageError {
  const name = CapabilitySchema.value[capability]?.name ?? String(capability);
  const isNarrowed = caller.capabilities !== undefined || caller.scopes !== undefined;
  const words = isNarrowed
    ? `the narrowed token of identity ${caller.identity} lacks ${name} for ${path}`
    : `identity ${caller.identity} lacks ${name} for ${path}: no role binding on a group of that path gives it`;
  return new MoorageError(Code.PermissionDenied, `Permission denied: ${words}`, {
    metadata: { identity: caller.identity, capability: name, group: path },
  });
}
