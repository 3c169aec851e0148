import { AccessStep_Kind as Kind, AccessStep_Outcome as Outcome, type Capability } from "@moorage/api/messages";
import { holdsOn } from "@moorage/platform/auth";
import type { Call, Caller } from "@moorage/kernel/core/call";
import { openCall } from "../open-call.ts";
import { named, type Step } from "./answer.ts";
import type { Wanted } from "./bindings.ts";

/** What the subject holds of what is needed. */
export interface Holding {
  steps: Step[];
  /** What the subject lacks with its token as it is narrowed. */
  missing: Capability[];
  /** What no binding gives. */
  ungiven: Capability[];
  /** What is given, and the capabilities of the token leave out. */
  narrowedAway: Capability[];
  /** What is given, and the scopes of the token leave out. */
  outOfScope: Capability[];
}

/**
 * Asks for each needed capability as the real decision does: as the subject, without its narrowing, and with each kind
 * of narrowing alone.
 */
export async function holdingOf(subject: Call, wanted: Wanted): Promise<Holding> {
  const { capabilities, scopes, ...whole } = subject.caller;
  const as = (caller: Caller): Call => openCall({ ...subject, caller }, subject.tx);
  const found: Holding = { steps: [], missing: [], ungiven: [], narrowedAway: [], outOfScope: [] };
  const [plain, narrowed, scoped] = [
    as(whole),
    as({ ...whole, ...(capabilities && { capabilities }) }),
    as({ ...whole, ...(scopes && { scopes }) }),
  ];
  const held = async (call: Call, capability: Capability): Promise<boolean> =>
    wanted.place !== "" && (await holdsOn(call, wanted, capability, wanted.place));
  for (const capability of wanted.needed) {
    const isGiven = await held(plain, capability);
    const add = (kind: Kind, passed: boolean, yes: string, no: string): void =>
      void found.steps.push({
        kind,
        outcome: passed ? Outcome.PASSED : Outcome.FAILED,
        message: `${named([capability])} ${passed ? yes : no}`,
        capability,
      });
    add(Kind.CAPABILITY, isGiven, "is held there", "is held by no binding there");
    if (!isGiven) found.ungiven.push(capability);
    if (capabilities !== undefined && isGiven) {
      const isIn = await held(narrowed, capability);
      add(Kind.NARROWING, isIn, "is in the token", "is not among the capabilities that the token is narrowed to");
      if (!isIn) found.narrowedAway.push(capability);
    }
    if (scopes !== undefined && isGiven) {
      const isIn = await held(scoped, capability);
      add(Kind.SCOPE, isIn, "is in the token's scopes there", "is not held there with the scopes of the token");
      if (!isIn) found.outOfScope.push(capability);
    }
    if (!(await held(subject, capability))) found.missing.push(capability);
  }
  return found;
}
