import { AccessReason, AccessStep_Kind as Kind, type Capability } from "@moorage/api/messages";
import { reaches } from "@moorage/platform/auth";
import type { Caller } from "@moorage/kernel/core/call";
import { Code } from "@moorage/kernel/errors";
import { isWithin, parentOf } from "@moorage/kernel/lib/uid";
import { type Failure, named, type Remedy } from "./answer.ts";
import type { Holding } from "./capabilities.ts";
import type { Decision } from "./decide.ts";
import type { Question } from "./question.ts";
import { sentenceOf } from "./steps.ts";

interface Circumstances {
  caller: Caller;
  holding: Holding;
  /** The innermost group of the place, where the asking caller may see it. */
  group: { uid: string; name: string } | undefined;
}

/** Why the decision is no, and what would have to change. */
export function failureOf(question: Question, { reached, error }: Decision, about: Circumstances): Failure {
  const message = error === undefined ? "" : sentenceOf(error);
  const { holding, caller } = about;
  const because = (reason: AccessReason, ...remedies: Remedy[]): Failure => ({ reason, message, remedies });
  switch (reached.at(-1)) {
    case Kind.TERMS:
      return because(AccessReason.TERMS_MISSING, {
        message: `accept the documents for group ${about.group?.name ?? "of the resource"}`,
        group: about.group?.uid ?? "",
        documentIds: error?.details.missingTerms?.map(({ id }) => id) ?? [],
      });
    case Kind.GATE:
      return because(AccessReason.GATE_REJECTS, { message: gateRemedy(error) });
    case Kind.SIGNATURE:
      return because(AccessReason.SIGNATURE, { message: signatureRemedy(error) });
    case Kind.TAG_POLICY:
      return error?.code === Code.FailedPrecondition
        ? because(AccessReason.TAG_POLICY, { message: "use another tag, or change the repo's tag policy" })
        : because(AccessReason.REQUEST_REJECTED, { message: "ask for something else: see the message" });
    case Kind.EXISTENCE:
      return because(AccessReason.RESOURCE_MISSING, { message: "create it first" });
  }
  if (error?.code === Code.Unauthenticated || (caller.identity === "" && holding.missing.length > 0))
    return because(AccessReason.TOKEN_NEEDED, { message: "log in as an identity that has the rights" });
  const remedies = rightsRemedies(about, question.place);
  if (holding.ungiven.length > 0)
    return because(hides(question, error) ? AccessReason.NOT_VISIBLE : AccessReason.CAPABILITY_MISSING, ...remedies);
  if (holding.narrowedAway.length > 0) return because(AccessReason.NARROWED_AWAY, ...remedies);
  if (holding.outOfScope.length > 0) return because(AccessReason.OUT_OF_SCOPE, ...remedies);
  if (error?.code === Code.NotFound) return because(AccessReason.RESOURCE_MISSING, { message: "create it first" });
  if (question.kind === "method" && question.rule.root && question.place === "")
    return because(AccessReason.ADMINISTRATORS_ONLY, {
      message: "use the token of an administrator that is not narrowed",
    });
  if (error?.code === Code.PermissionDenied && (caller.capabilities ?? caller.scopes))
    return because(AccessReason.NARROWED_AWAY, { message: "use a token that is not narrowed" });
  return because(AccessReason.REQUEST_REJECTED, { message: "ask for something else: see the message" });
}

/**
 * What helps against the rejection of a gate: for findings, for what no feed covers, for what was not read, and for
 * what will be known soon.
 */
function gateRemedy(error: Decision["error"]): string {
  const { metadata = {}, retryAfterMs } = error?.details ?? {};
  if (retryAfterMs !== undefined) return "wait some seconds, until the image has been read, and ask again";
  if (metadata["findings"] === "0" && metadata["state"] === "NO_DATA")
    return "have whoever runs the server add the feeds that cover its packages, or have the gate of the repo's policy let pass what is not known (onUnknown)";
  if (metadata["findings"] === "0")
    return "attach an SBOM to the image as somebody who may write advisories, push an image that can be read, or have the gate of the repo's policy let pass what is not known (onUnknown)";
  return "push an image in which these vulnerabilities are fixed, say by an advisory or a VEX document that they do not affect it, or change the gate of the repo's policy";
}

/** What helps against policies of signatures. */
function signatureRemedy(error: Decision["error"]): string {
  if (error?.details.retryAfterMs !== undefined)
    return "wait some seconds, until the signatures are verified, and ask again";
  return "have the image signed as the policy asks, exempt it from the policy for some time, or change the policy; who signs it needs unsigned.read";
}

function hides(question: Question, error: Decision["error"]): boolean {
  return question.kind === "method" && error?.code === Code.NotFound;
}

function isOutside({ scopes }: Caller, place: string): boolean {
  return scopes !== undefined && !scopes.some((scope) => isWithin(place, scope));
}

function rightsRemedies({ caller, holding, group }: Circumstances, place: string): Remedy[] {
  const { ungiven, narrowedAway, outOfScope } = holding;
  const remedies: Remedy[] = [];
  if (ungiven.length > 0) remedies.push(bindingRemedy(caller, ungiven, group));
  // A token that is narrowed away from what is not given either would have to be another one as well.
  const away = [
    ...narrowedAway,
    ...ungiven.filter((capability) => caller.capabilities?.includes(capability) === false),
  ];
  if (away.length > 0)
    remedies.push({
      message: `use a token that is not narrowed, or one that holds ${named(away)}`,
      capabilities: away,
    });
  if (outOfScope.length > 0 || (ungiven.length > 0 && isOutside(caller, place)))
    remedies.push({
      message: `use a token that is not narrowed, or one whose scopes hold ${group === undefined ? "the resource" : `group ${group.name}`}`,
      ...(group && { group: group.uid }),
    });
  return remedies;
}

function bindingRemedy(caller: Caller, capabilities: Capability[], group: Circumstances["group"]): Remedy {
  const where = group === undefined ? "a group of the resource" : `group ${group.name}`;
  const remedy = { capabilities, ...(group && { group: group.uid }) };
  if (group !== undefined && !reaches(parentOf(caller.identity), group.uid))
    return { ...remedy, message: `use an identity of ${where}: role bindings of this one cannot reach it` };
  return { ...remedy, message: `bind a role with ${named(capabilities)} on ${where} to this identity` };
}
