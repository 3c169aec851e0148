// The file of a plan: people read it, take items out of it, and may get anything into it. So it is read like the answer
// of a stranger.
import { open, rename, rm } from "node:fs/promises";
import { isList, isObject, parseJson } from "@moorage/kernel/lib/json";
import { Failure, UsageFailure } from "../command/failure.ts";
import { FORM, type ItemKind, KNOWN_BY_SOURCE, MAX_ITEMS, type Plan, type PlanItem } from "./plan.ts";
import { mavenItemOf, mavenPlaceOf } from "./maven-names.ts";
import { packageOf, packageSource } from "./npm-names.ts";
import { itemOf, MAX_WHY } from "./plan-item.ts";

const MAX_BYTES = 512 << 20;
const MAX_DEPTH = 8;
/** Kinds of what holds other items of the plan. */
const HOLDING: readonly ItemKind[] = ["repo", "package", "project", "maven-artifact"];

/** Writes the plan whole or not at all. Throws a Failure. */
export async function writePlan(file: string, plan: Plan): Promise<void> {
  const { items, ...head } = plan;
  const temporary = `${file}.new`;
  try {
    const handle = await open(temporary, "w");
    try {
      await handle.write(`${JSON.stringify(head, null, 2).slice(0, -2)},\n  "items": [`);
      // An item a line, so that people find and compare them.
      let lines: string[] = [];
      for (const [at, item] of items.entries()) {
        lines.push(`${at === 0 ? "" : ","}\n    ${JSON.stringify(item)}`);
        if (lines.length < 1_000) continue;
        await handle.write(lines.join(""));
        lines = [];
      }
      await handle.write(`${lines.join("")}\n  ]\n}\n`);
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => {});
    throw new Failure(`${file}: cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

/** Reads a plan. Throws a UsageFailure that says what is wrong with it, and where. */
export async function readPlan(file: string): Promise<Plan> {
  const value = await jsonOfFile(file);
  const fail = (what: string): never => {
    throw new UsageFailure(`${file}: ${what}`);
  };
  if (!isObject(value) || value["plan"] !== FORM)
    return fail(`is not a plan of this command: "plan" must be "${FORM}"`);
  const { kind, address, into, time, history, leavesBehind, content, items } = value;
  if (typeof kind !== "string" || typeof address !== "string" || typeof into !== "string" || typeof time !== "string")
    return fail("kind, address, into and time must be texts");
  if (!isList(items)) return fail("has no list of items");
  if (items.length > MAX_ITEMS) return fail(`has more than ${MAX_ITEMS} items`);
  const read = items.map((item, at) => itemOf(item, into, (what) => fail(`items[${at}]${what}`)));
  const faulty = faultBetween(read);
  if (faulty !== undefined) fail(faulty);
  const { count, bytes, atLeast } = isObject(content) ? content : {};
  return {
    plan: FORM,
    kind,
    address,
    into,
    time,
    history: history === true,
    leavesBehind: typeof leavesBehind === "string" ? leavesBehind.slice(0, MAX_WHY) : "",
    content: { count: Number(count) || 0, bytes: Number(bytes) || 0, atLeast: atLeast === true },
    items: read,
  };
}

async function jsonOfFile(file: string): Promise<unknown> {
  try {
    const handle = await open(file, "r");
    try {
      const { size } = await handle.stat();
      if (size > MAX_BYTES) throw new UsageFailure(`${file}: is larger than the plan of this command can be`);
      return parseJson(await handle.readFile("utf8"), MAX_DEPTH);
    } finally {
      await handle.close();
    }
  } catch (cause) {
    if (cause instanceof UsageFailure) throw cause;
    throw new UsageFailure(`${file}: cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

/** The source of the artifact that a file of Maven is of. */
function artifactOf(source: string): string {
  const { index, rest } = mavenItemOf({ source });
  return `${index}/${mavenPlaceOf(rest)?.artifact ?? ""}`;
}

/** What is wrong between items: the repo of a tag that is not there, two of one target. */
function faultBetween(items: readonly PlanItem[]): string | undefined {
  const repos = new Map<string, string>();
  const targets = new Set<string>();
  for (const [at, { kind, source, target, action }] of items.entries()) {
    if (action === "cannot" || KNOWN_BY_SOURCE.includes(kind)) continue;
    // A group and a repo may share a name.
    if (targets.has(`${kind} ${target}`)) return `items[${at}].target: ${target} is there twice`;
    targets.add(`${kind} ${target}`);
    if (HOLDING.includes(kind)) repos.set(source, target);
  }
  for (const [at, { kind, source, target, action }] of items.entries()) {
    if (action === "cannot") continue;
    if (kind === "version" && !repos.has(packageSource(packageOf(source))))
      return `items[${at}]: is a version of no package of the plan`;
    if (kind === "file" && !repos.has(source.slice(0, source.lastIndexOf("/"))))
      return `items[${at}]: is a file of no project of the plan`;
    if (kind === "maven-file" && !repos.has(artifactOf(source)))
      return `items[${at}]: is a file of no Maven artifact of the plan`;
    if (kind !== "tag") continue;
    const cut = source.lastIndexOf(":");
    if (repos.get(source.slice(0, cut)) !== target.slice(0, target.lastIndexOf(":")))
      return `items[${at}]: is a tag of no repo of the plan`;
  }
  return undefined;
}
