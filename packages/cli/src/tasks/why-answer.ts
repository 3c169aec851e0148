// The answer of `moorage why`: the decision in the first line, then its steps, then what would change it.
import { objectsIn, textIn, textsIn, wordIn } from "../api/json-fields.ts";
import { parentOf } from "../api/name-kinds.ts";
import type { JsonObject } from "../api/rest.ts";
import { EXIT } from "../command/exit-codes.ts";
import { quote } from "../shell.ts";
import type { Color } from "../output/color.ts";
import { type Pen, printReport } from "./report.ts";
import { openSession, type Session } from "./session.ts";
import { questionOf, type WhyFlags, type WhyQuestion } from "./why-question.ts";

const MARKS: Readonly<Record<string, readonly [string, Color]>> = {
  OUTCOME_PASSED: ["✓", "green"],
  OUTCOME_FAILED: ["✗", "red"],
  OUTCOME_NOT_APPLICABLE: ["·", "dim"],
};
const UIDS = /\b[0-9a-f]{40}(?:\/[0-9a-f]{16})*(?![0-9a-f/])/g;
const SAFE_WORD = /^[\w@%+=:,./-]+$/;
const ROLES_LOOKED_AT = 1000;

/** Prints whether the access is given, and why. The exit code is 5 where it is not. */
export async function printWhy(words: readonly string[], flags: WhyFlags): Promise<void> {
  const session = await openSession(flags);
  const question = await questionOf(session, words, flags);
  const answer = await session.rest.call("POST", "/iam/v2/access:explain", { body: question.request, reads: true });
  const listing = {
    field: "explanations",
    columns: [
      { header: "ALLOWED", value: () => String(answer["allowed"] === true) },
      { header: "REASON", value: () => wordIn(answer, "reason", "ACCESS_REASON_") },
      { header: "MESSAGE", value: () => textIn(answer, "message") },
    ],
    nameOf: () => wordIn(answer, "reason", "ACCESS_REASON_"),
    idOf: () => textIn(answer, "identity"),
  };
  await printReport(
    { item: answer, listing, text: (pen) => whyText(session, question, answer, pen) },
    flags,
    session.names.pathOf,
  );
  if (answer["allowed"] !== true) process.exitCode = EXIT.denied;
}

async function whyText(session: Session, question: WhyQuestion, answer: JsonObject, pen: Pen): Promise<string> {
  const { who, verb, what } = question;
  const isAllowed = answer["allowed"] === true;
  const may = `${who} ${isAllowed ? "may" : "may not"} ${verb}${what === "" ? "" : ` ${what}`}`;
  const lines = [`${pen.ink(isAllowed ? "allowed" : "denied", isAllowed ? "green" : "red")}: ${pen.ink(may, "bold")}`];
  const named = (text: string): Promise<string> => withNames(session, text);
  if (!isAllowed) lines.push(pen.wrap(await named(textIn(answer, "message"))));
  const steps = objectsIn(answer, "steps");
  if (steps.length > 0) lines.push("");
  for (const step of steps) {
    const [mark, color] = MARKS[textIn(step, "outcome")] ?? [" ", undefined];
    lines.push(
      pen.wrap(`${mark} ${await named(textIn(step, "message"))}`, "  ").replace(mark, () => pen.ink(mark, color)),
    );
  }
  const remedies = objectsIn(answer, "remedies");
  if (remedies.length > 0) lines.push("", pen.ink("What would change it", "bold"));
  for (const remedy of remedies) {
    lines.push(pen.wrap(`- ${await named(textIn(remedy, "message"))}`, "  "));
    const command = await commandOf(session, answer, remedy);
    if (command !== undefined) lines.push(`  ${pen.ink(command, "cyan")}`);
  }
  return `${lines.join("\n")}\n`;
}

/** The text with paths in place of uids. */
async function withNames({ names }: Session, text: string): Promise<string> {
  const found = [...new Set(text.match(UIDS) ?? [])];
  const paths = new Map(await Promise.all(found.map(async (uid) => [uid, await pathOfAny(names, uid)] as const)));
  return text.replace(UIDS, (uid) => paths.get(uid) ?? uid);
}

async function pathOfAny(names: Session["names"], uid: string): Promise<string> {
  const place = await names.pathOf(uid);
  return place === uid ? names.pathOf(uid, "identity") : place;
}

/** The command that makes the change; undefined where there is none to write down. */
async function commandOf(session: Session, answer: JsonObject, remedy: JsonObject): Promise<string | undefined> {
  const { names } = session;
  const group = textIn(remedy, "group");
  if (group === "") return undefined;
  const place = word(await names.pathOf(group));
  const documents = textsIn(remedy, "documentIds");
  if (documents.length > 0)
    return `moorage terms accept ${place} ${documents.map((id) => `--document-ids ${word(id)}`).join(" ")}`;
  const [capabilities, identity] = [textsIn(remedy, "capabilities"), textIn(answer, "identity")];
  // Bindings reach an identity only in its own group and below.
  const own = parentOf(identity);
  if (capabilities.length === 0 || identity === "" || (own !== "" && !`${group}/`.startsWith(`${own}/`)))
    return undefined;
  const role = await smallestRole(session, capabilities, group);
  if (role === undefined) return undefined;
  const who = await uniqueName(session, identity);
  return `moorage bindings create ${place} --identity-uid ${word(who)} --role-uid ${word(role)}`;
}

/** A name that leads back to the identity; its uid where several have the name. */
async function uniqueName({ names }: Session, identity: string): Promise<string> {
  const path = await names.pathOf(identity, "identity");
  const found = await names.uidOf("identity", path).catch(() => undefined);
  return found === identity ? path : identity;
}

/** The role with the fewest capabilities of those that have these and can be bound on the group. */
async function smallestRole(
  { rest, names }: Session,
  capabilities: readonly string[],
  group: string,
): Promise<string | undefined> {
  let [best, least] = ["", Infinity];
  for await (const role of rest.list("/iam/v2/roles", "roles", { limit: ROLES_LOOKED_AT })) {
    const [uid, held] = [textIn(role, "uid"), textsIn(role, "capabilities")];
    const reaches = !uid.includes("/") || group.startsWith(`${uid.slice(0, uid.lastIndexOf("/"))}`);
    if (!reaches || held.length >= least || !capabilities.every((each) => held.includes(each))) continue;
    [best, least] = [uid, held.length];
  }
  return best === "" ? undefined : names.pathOf(best, "role");
}

function word(text: string): string {
  return SAFE_WORD.test(text) ? text : quote(text);
}
