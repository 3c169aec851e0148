import { AccessStep_Kind as Kind, AccessStep_Outcome as Outcome } from "@moorage/api/messages";
import { camelCase } from "@moorage/kernel/aip/order";
import { Code } from "@moorage/kernel/errors";
import { named, type Step } from "./answer.ts";
import type { Decision } from "./decide.ts";
import { isOfInstallation } from "../of-installation.ts";
import type { Question } from "./question.ts";

const PASSED: Partial<Record<Kind, string>> = {
  [Kind.EXISTENCE]: "the resource exists",
  [Kind.TAG_POLICY]: "the repo's policy leaves it free",
  [Kind.TERMS]: "the documents that are required are accepted",
  [Kind.GATE]: "the repo's vulnerability gate lets the image pass",
  [Kind.SIGNATURE]: "the policies of signatures let the image pass",
};

/** The steps of the decision beside what the identity holds. */
export function decidedSteps(
  question: Question,
  { reached, error, unknown, unsigned }: Decision,
  { isFree, isAnonymous }: { isFree: boolean | undefined; isAnonymous: boolean },
): Step[] {
  const steps: Step[] = [];
  const add = (kind: Kind, outcome: Outcome, message: string): void => void steps.push({ kind, outcome, message });
  if (question.kind === "method")
    add(Kind.METHOD, methodOutcome(question, isAnonymous, error), methodSentence(question));
  if (question.kind === "method")
    for (const { fields, capability } of question.rule.fields)
      add(
        Kind.METHOD,
        Outcome.NOT_APPLICABLE,
        `a call that changes ${fields.map(camelCase).join(" or ")} needs ${named([capability])}, too`,
      );
  if (isFree !== undefined)
    add(
      Kind.FREE_TIER,
      isFree ? Outcome.PASSED : Outcome.NOT_APPLICABLE,
      isFree ? "the image is public: everybody may pull it" : "the image is not one of the public ones",
    );
  // What a pull needs was held, and there is no such repo.
  const isMissingRepo = question.kind === "action" && reached.length === 1 && error?.code === Code.NotFound;
  if (isMissingRepo) add(Kind.EXISTENCE, Outcome.FAILED, sentenceOf(error));
  for (const [at, kind] of reached.entries()) {
    const sentence = PASSED[kind];
    if (sentence === undefined) continue;
    const failed = error !== undefined && at === reached.length - 1;
    const passed =
      kind === Kind.GATE && unknown !== undefined
        ? `${sentence}, which it does not know. ${unknown}`
        : kind === Kind.SIGNATURE && unsigned !== undefined
          ? `unsigned.read lets the caller pull what policies of signatures block. ${unsigned}`
          : sentence;
    add(kind, failed ? Outcome.FAILED : Outcome.PASSED, failed ? sentenceOf(error) : passed);
  }
  return steps;
}

/** What an error says, without its code. */
export function sentenceOf({ message }: { message: string }): string {
  return message.replace(/^(?:Permission denied|Precondition failed|Invalid argument|Unauthenticated): /, "");
}

function methodOutcome(
  { rule }: Question & { kind: "method" },
  isAnonymous: boolean,
  error: Decision["error"],
): Outcome {
  if (rule.public) return Outcome.PASSED;
  if (isAnonymous) return error?.code === Code.Unauthenticated ? Outcome.FAILED : Outcome.PASSED;
  return rule.authenticated ? Outcome.PASSED : Outcome.NOT_APPLICABLE;
}

function methodSentence({ rule, method }: Question & { kind: "method" }): string {
  const { desc } = method;
  if (isOfInstallation(method)) return `${desc.name} needs the capabilities on the installation's first organization`;
  if (rule.public) return `${desc.name} needs no token`;
  if (rule.authenticated) return `${desc.name} is for everybody with a token; what it is sent decides the rest`;
  if (rule.scope === "") return `${desc.name} answers what is in groups where the capabilities are held`;
  return `${desc.name} needs the capabilities of its access rule on the resource`;
}
