// `moorage images signature-decision`: what the signature policies say of an image, and by which rules.
import { pin } from "../api/image-digest.ts";
import { numberIn, objectsIn, textIn, wordIn } from "../api/json-fields.ts";
import type { JsonObject } from "../api/rest.ts";
import type { PathOf } from "../api/uid-paths.ts";
import type { Color } from "../output/color.ts";
import { type Pen, printReport } from "./report.ts";
import { openSession, type TaskFlags } from "./session.ts";

export interface DecisionFlags extends TaskFlags {
  tag?: string;
  /** Such as `pull`. */
  action: string;
}

const OUTCOMES: Readonly<Record<string, [words: string, color?: Color]>> = {
  signed: ["signed", "green"],
  unsigned: ["not signed", "red"],
  waiting: ["not known yet: something waits to be verified", "yellow"],
  unknown: ["not known", "yellow"],
  exempt: ["passes by an exemption", "yellow"],
  "held before": ["passes: the repo has held it since before the policy counts"],
  "not covered": ["does not apply"],
  document: ["passes: signatures, attestations, SBOMs and VEX documents are never blocked"],
};

/** Prints whether the policies let an image be pulled, promoted or copied, and what each of them says. */
export async function printDecision(reference: string, flags: DecisionFlags): Promise<void> {
  const session = await openSession(flags);
  const { repo, digest, name, tag, timeMs } = await pin(session, await session.names.imageOf(reference));
  const about = flags.tag ?? (timeMs === undefined ? tag : undefined);
  const label = tag === undefined ? `${name}@${digest}` : `${name}:${tag}`;
  const item = await session.rest.call("GET", `/registry/v2/repos/${repo}/digests/${digest}/signatureDecision`, {
    query: {
      ...(about !== undefined && { tag: about }),
      action: `SIGNATURE_ACTION_${flags.action.toUpperCase()}`,
    },
  });
  const listing = { field: "decisions", columns: [], nameOf: () => label, idOf: () => digest };
  await printReport({ item, listing, text: (pen) => decisionText(label, item, pen, session.names.pathOf) }, flags);
}

async function decisionText(label: string, item: JsonObject, pen: Pen, pathOf: PathOf): Promise<string> {
  const policies = objectsIn(item, "policies");
  const lines = [`${pen.ink(label, "bold")}: ${verdictText(item, policies, pen)}`];
  for (const policy of policies) lines.push("", ...(await policyLines(policy, pen, pathOf)));
  return `${lines.join("\n")}\n`;
}

function verdictText(item: JsonObject, policies: readonly JsonObject[], pen: Pen): string {
  const message = textIn(item, "message");
  const instead = textIn(item, "answeredInstead");
  if (item["held"] === true) {
    const blocked =
      item["waiting"] === true ? pen.ink("blocked until it is verified", "yellow") : pen.ink("blocked", "red");
    const answered = instead === "" ? "" : `\n  pulls of the tag get ${pen.digest(instead)} instead`;
    return `${blocked}${message === "" ? "" : `\n  ${pen.wrap(message, "  ")}`}${answered}`;
  }
  // Nothing was asked, which is not the same as an image that has what is asked for.
  if (policies.every((each) => outcomeOf(each) === "not covered"))
    return pen.ink("no signature policy applies to it, so no signature is asked for", "yellow");
  return pen.ink("not blocked", "green");
}

async function policyLines(policy: JsonObject, pen: Pen, pathOf: PathOf): Promise<string[]> {
  const uid = textIn(policy, "policy");
  const group = await pathOf(uid.split("/").slice(0, -1).join("/"), "group");
  const mode = wordIn(policy, "mode", "GATE_MODE_");
  const name = `${group}/${textIn(policy, "name")}`;
  const rules = objectsIn(policy, "rules");
  // What is missing is said by the rules, where there are any.
  const lines = [`${pen.ink(name, "bold")} (${mode}): ${outcomeText(policy, pen, rules.length > 0 ? "" : undefined)}`];
  for (const rule of rules) {
    const found = `${numberIn(rule, "found")} of ${numberIn(rule, "threshold")}`;
    lines.push(`  rule ${pen.ink(textIn(rule, "name"))}: ${outcomeText(rule, pen, textIn(rule, "reason") || found)}`);
  }
  return lines;
}

function outcomeText(of: JsonObject, pen: Pen, detail = textIn(of, "reason")): string {
  const [words, color] = OUTCOMES[outcomeOf(of)] ?? [outcomeOf(of)];
  return `${pen.ink(words, color)}${detail === "" ? "" : `: ${pen.wrap(detail, "    ")}`}`;
}

const outcomeOf = (of: JsonObject): string => wordIn(of, "outcome", "SIGNATURE_OUTCOME_");
