import { AccessReason, type AccessService, ExplainAccessRequestSchema } from "@moorage/api/messages";
import { validate } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { basicNeeds, furtherNeeds, isFreeToPull } from "@moorage/registry/oci";
import { createPullGate } from "@moorage/security/security";
import { createSignatureGate } from "@moorage/registry/trust";
import { openCall } from "../open-call.ts";
import { requireMayAsk } from "./may-ask.ts";
import { givenSteps, type Wanted } from "./bindings.ts";
import { holdingOf } from "./capabilities.ts";
import { centerSubject, decidedAtCenter } from "./center.ts";
import { decideAction, decideMethod } from "./decide.ts";
import { failureOf } from "./failure.ts";
import { aboutOf, groupOf, type KnownMethod, type Question, questionOf } from "./question.ts";
import { decidedSteps } from "./steps.ts";
import { subjectOf } from "./subject.ts";

/** `methods`: the table of methods, once it is complete. */
export function accessService(
  context: ServiceContext,
  methods: () => ReadonlyMap<string, KnownMethod>,
): Service<typeof AccessService> {
  const { terms = [], publicOrganization = "", freeTierTags = [], baseUrl = "", installation } = context;
  const ownHost = URL.parse(context.registryUrl ?? baseUrl)?.host ?? "";
  const settings = { publicOrganization, freeTierTags };
  const deps = { terms, settings, judge: createPullGate(), judgeSigned: createSignatureGate() };
  return {
    async explainAccess(asking, request) {
      validate(ExplainAccessRequestSchema, request);
      const question = await questionOf(asking, methods(), installation?.organization ?? "", request);
      const supposed = await subjectOf(asking, baseUrl, request, organizationsOf(question));
      const atCenter = await centerSubject(asking, request, question, ownHost);
      const found = atCenter ?? supposed;
      const isSelf = found.caller.identity !== "" && found.caller.identity === asking.caller.identity;
      if (!isSelf) await requireMayAsk(asking, question);
      const { caller, steps, failure } = found;
      const identity = { identity: caller.identity };
      if (failure !== undefined) return { ...identity, ...failure, allowed: false, steps };
      const subject = openCall({ ...asking, caller }, asking.tx);
      const isFree =
        question.kind === "action" ? await isFreeToPull(subject, deps.settings, question.attempted) : undefined;
      const decision =
        question.kind === "method"
          ? await decideMethod(subject, context, question)
          : await decideAction(subject, deps, question);
      const decides = atCenter?.decides;
      if (decides !== undefined && decision.error === undefined) throw decidedAtCenter(decides);
      const { resource, see } = aboutOf(question);
      const isSeen = !isSelf || (question.place !== "" && (await asking.may(see, question.place)));
      // What the center decides is not a matter of capabilities here.
      const needed =
        decides === undefined
          ? await neededFor(subject, question, { isSeen, isAllowed: decision.error === undefined })
          : [];
      const wanted: Wanted = { needed, place: question.place, resource };
      const holding = await holdingOf(subject, wanted);
      const explained = [
        ...steps,
        ...(await givenSteps(asking, subject, { ...wanted, place: question.home })),
        ...holding.steps,
        ...decidedSteps(question, decision, { isFree, isAnonymous: caller.identity === "" }),
      ];
      if (decision.error === undefined)
        return {
          ...identity,
          allowed: true,
          reason: AccessReason.ALLOWED,
          message: "the call would be let through",
          steps: explained,
        };
      const group = await groupOf(asking, question.home);
      const failed = failureOf(question, decision, {
        caller,
        holding,
        group: group !== undefined && isSeen ? group : undefined,
      });
      return { ...identity, ...failed, allowed: false, steps: explained, missing: holding.missing };
    },
  };
}

/** The organization whose image it is: of several identities that accept a token, its own are preferred. */
function organizationsOf(question: Question): string[] {
  return question.kind === "action" ? [question.attempted.name.split("/", 1)[0] ?? ""] : [];
}

/**
 * The capabilities that are needed. What a push needs beside the right to push depends on what exists: it is listed for
 * those who see that, and for those who may push.
 */
async function neededFor(
  subject: Call,
  question: Question,
  { isSeen, isAllowed }: { isSeen: boolean; isAllowed: boolean },
): Promise<Wanted["needed"]> {
  if (question.kind === "method") {
    const { rule } = question;
    const isOpen = rule.public || rule.authenticated || (rule.anonymous && subject.caller.identity === "");
    return isOpen ? [] : rule.capabilities;
  }
  const basic = basicNeeds(question.attempted);
  let mayPush = isAllowed || isSeen;
  for (const capability of mayPush ? [] : basic)
    mayPush = question.place !== "" && (await subject.may(capability, question.place));
  return mayPush ? [...basic, ...(await furtherNeeds(subject, question.attempted, question.resolved))] : basic;
}
