import type { DescMethod } from "@bufbuild/protobuf";
import { access, Capability, CapabilitySchema } from "@moorage/api/messages";
import type { Call } from "../core/call.ts";
import { permissionDenied } from "../errors.ts";
import { optionOf } from "../lib/options.ts";

/**
 * The capabilities that a method needs, all of them, as its access option names them. Throws if it names none.
 */
export function neededFor(method: DescMethod): readonly Capability[] {
  const { capabilities } = optionOf(method, access);
  if (capabilities.length === 0) throw new Error(`the access rule of ${method.toString()} names no capability`);
  return capabilities;
}

/**
 * What the change of a field of the resource needs beside the capabilities of the method, by the field's name in its
 * `.proto`.
 */
export function fieldCapabilities(method: DescMethod): ReadonlyMap<string, Capability> {
  const { fields } = optionOf(method, access);
  return new Map(fields.flatMap((each) => each.fields.map((field) => [field, each.capability] as const)));
}

/**
 * For a list about one resource that has nothing for the caller: throws PERMISSION_DENIED, naming the missing
 * capabilities, if the caller sees the groups there. Whoever does not see them gets the empty list, as if the resource
 * did not exist.
 */
export async function rejectUnlistable(call: Call, needs: readonly Capability[], uid: string): Promise<void> {
  if (!(await call.may(Capability.CAP_IAM_GROUPS_LIST, uid))) return;
  const missing: string[] = [];
  for (const need of needs) if (!(await call.may(need, uid))) missing.push(CapabilitySchema.value[need]?.name ?? "");
  if (missing.length > 0)
    throw permissionDenied(`the caller lacks ${missing.join(", ")}`, { missing: missing.join(",") });
}
