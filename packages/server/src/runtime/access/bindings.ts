import { AccessStep_Kind as Kind, AccessStep_Outcome as Outcome, Capability, RoleSchema } from "@moorage/api/messages";
import { reaches } from "@moorage/platform/auth";
import type { Call } from "@moorage/kernel/core/call";
import {
  arePublicGroupsOn,
  capabilitiesOf,
  EVERYBODY,
  isBuiltInIdentity,
  OPEN_CAPABILITIES,
  PUBLIC_GROUPS_OFF,
  SIGNED_IN,
  statedGroups,
} from "@moorage/platform/iam";
import { isWithin, parentOf } from "@moorage/kernel/lib/uid";
import { named, type Step } from "./answer.ts";

/** A role that is given on a group, by a binding or by a mapping. */
interface Given {
  uid: string;
  /** To whom, of a binding. */
  identity?: string;
  group: string;
  groupName: string;
  role: string;
  capabilities: string;
}

export interface Wanted {
  needed: readonly Capability[];
  /** The uid of what it is about; "" for none. */
  place: string;
  /** The full name of its type. */
  resource: string;
}

const MAX_STEPS = 100;

/**
 * What each role binding of the subject gives for what is needed, and each mapping of its groups at its identity
 * provider. Of those on groups whose bindings the asking caller may not list only those above the place are shown, and
 * without names.
 */
export async function givenSteps(asking: Call, subject: Call, wanted: Wanted): Promise<Step[]> {
  const { identity } = subject.caller;
  const steps: Step[] = [];
  for (const given of identity === "" ? [] : await boundTo(asking, [identity])) {
    if (steps.length === MAX_STEPS) break;
    const isShown = await asking.may(Capability.CAP_IAM_ROLE_BINDINGS_LIST, given.group);
    const unless = reaches(parentOf(identity), given.group) ? "" : "its group is not in the identity's own";
    const step = stepOf(Kind.BINDING, given, wanted, isShown, unless);
    if (step !== undefined) steps.push(step);
  }
  const unlessOn = (await arePublicGroupsOn(asking.tx)) ? "" : PUBLIC_GROUPS_OFF;
  for (const given of await boundTo(asking, identity === "" ? [EVERYBODY] : [EVERYBODY, SIGNED_IN])) {
    if (steps.length === MAX_STEPS) break;
    // Of others nothing is said: each organization has its own.
    if (!coversPlace(given.group, wanted)) continue;
    const isShown = await asking.may(Capability.CAP_IAM_ROLE_BINDINGS_LIST, given.group);
    const step = stepOf(Kind.BINDING, { ...given, capabilities: openOf(given) }, wanted, isShown, unlessOn);
    if (step !== undefined) steps.push(step);
  }
  for (const given of await mappedTo(subject)) {
    if (steps.length === MAX_STEPS) break;
    const isShown = await asking.may(Capability.CAP_IAM_IDENTITY_PROVIDERS_LIST, parentOf(given.uid));
    const step = stepOf(Kind.MAPPING, given, wanted, isShown, "");
    if (step !== undefined) steps.push(step);
  }
  return steps;
}

/** What a built-in identity holds by the role: it never holds more than reading takes. */
function openOf(given: Given): string {
  return JSON.stringify(capabilitiesOf(given).filter((capability) => OPEN_CAPABILITIES.has(capability)));
}

/** `unless`: why what is given does not count; empty when it does. */
function stepOf(kind: Kind, given: Given, wanted: Wanted, isShown: boolean, unless: string): Step | undefined {
  const covers = coversPlace(given.group, wanted);
  if (!covers && !isShown) return undefined;
  const held = new Set(capabilitiesOf(given));
  const gives = wanted.needed.filter((capability) => held.has(capability));
  const what = kind === Kind.BINDING ? "binding" : "mapping";
  // Whom it is given to is said where that is not the subject itself: the image is public then.
  const whose = isBuiltInIdentity(given.identity ?? "") ? ` of ${given.identity}` : "";
  const which = isShown
    ? `the ${what}${whose} ${whose === "" ? "of" : "to"} role ${given.role} on group ${given.groupName}`
    : `a ${what}${whose} above`;
  const [outcome, message] = !covers
    ? [Outcome.NOT_APPLICABLE, `${which} does not reach the resource`]
    : unless !== ""
      ? [Outcome.FAILED, `${which} does not count: ${unless}`]
      : gives.length === 0
        ? [Outcome.NOT_APPLICABLE, `${which} does not grant it`]
        : [Outcome.PASSED, `${which} gives ${named(gives)}`];
  const names = { uid: given.uid, name: given.role, group: given.group, groupName: given.groupName };
  return { kind, outcome, message, ...(isShown && names) };
}

function coversPlace(group: string, { place, resource }: Wanted): boolean {
  // Built-in roles are above all groups: rights anywhere count for them.
  return (resource === RoleSchema.typeName && parentOf(place) === "") || (place !== "" && isWithin(place, group));
}

async function boundTo({ tx }: Call, identities: readonly string[]): Promise<Given[]> {
  return await tx
    .selectFrom("role_bindings as b")
    .innerJoin("roles as r", "r.uid", "b.role_uid")
    .innerJoin("groups as g", "g.uid", "b.parent")
    .select([
      "b.uid",
      "b.identity_uid as identity",
      "b.parent as group",
      "g.name as groupName",
      "r.name as role",
      "r.capabilities",
    ])
    .where("b.identity_uid", "in", identities)
    .orderBy("b.parent")
    .orderBy("b.uid")
    .limit(10 * MAX_STEPS)
    .execute();
}

async function mappedTo({ tx, caller: { identity, external } }: Call): Promise<Given[]> {
  if (external === undefined) return [];
  const groups = await statedGroups(tx, identity, external);
  const given: Given[] = [];
  for (let at = 0; at < groups.length && given.length < 10 * MAX_STEPS; at += MAX_GROUPS_AT_ONCE)
    given.push(
      ...(await tx
        .selectFrom("external_group_role_mappings as m")
        .innerJoin("roles as r", "r.uid", "m.role_uid")
        .innerJoin("groups as g", "g.uid", "m.scope")
        .select(["m.uid", "m.scope as group", "g.name as groupName", "r.name as role", "r.capabilities"])
        .where("m.parent", "=", external.provider)
        .where("m.external_group_id", "in", groups.slice(at, at + MAX_GROUPS_AT_ONCE))
        .orderBy("m.uid")
        .limit(10 * MAX_STEPS)
        .execute()),
    );
  return given.slice(0, 10 * MAX_STEPS);
}

const MAX_GROUPS_AT_ONCE = 1000;
