// The file of a plan: people read it, take items out of it, and may get anything into it. So it is read like the answer
// of a stranger.
import { open, rename, rm } from "node:fs/promises";
import { isList, isObject, parseJson } from "@moorage/kernel/lib/json";
import { Failure, UsageFailure } from "../command/failure.ts";
import { isDigest, isTag } from "./model.ts";
import {
  type Action,
  ACTIONS,
  faultOfName,
  FORM,
  ITEM_KINDS,
  type ItemKind,
  MAX_ITEMS,
  type Plan,
  ROLES,
} from "./plan.ts";
import type { PlanItem, PlanMove } from "./plan.ts";

const MAX_BYTES = 512 << 20;
const MAX_DEPTH = 8;
const MAX_MOVES = 100_000;
const MAX_WHY = 2_000;
const MAX_PATTERN = 2_048;
const FIELDS = new Set([
  "kind",
  "source",
  "target",
  "action",
  "why",
  "digest",
  "moves",
  "immutable",
  "bytes",
  "role",
  "endTime",
]);

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

type Fail = (what: string) => never;

// Items of these are known by what they are there, of which several may have one place here.
const BY_SOURCE: readonly string[] = ["robot", "policy", "quota"];

function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) && !Number.isNaN(Date.parse(text));
}

function itemOf(value: unknown, into: string, fail: Fail): PlanItem {
  if (!isObject(value)) return fail(": must be an object");
  const { kind, source, target, action, why, digest, moves, immutable, bytes, role, endTime } = value;
  const other = Object.keys(value).find((name) => !FIELDS.has(name));
  if (other !== undefined) fail(`: unknown field "${other.slice(0, 100)}"`);
  if (!ITEM_KINDS.includes(kind as ItemKind)) fail(`.kind: must be one of ${ITEM_KINDS.join(", ")}`);
  if (!ACTIONS.includes(action as Action)) fail(`.action: must be one of ${ACTIONS.join(", ")}`);
  if (typeof source !== "string" || typeof target !== "string") return fail(": source and target must be texts");
  if (typeof why !== "string" || why.length > MAX_WHY)
    return fail(`.why: must be a text of at most ${MAX_WHY} characters`);
  const item = { kind: kind as ItemKind, action: action as Action, source, target, why };
  if (action === "cannot") return item;
  requirePlaces(item, into, fail);
  if (kind !== "policy" && immutable !== undefined) fail(".immutable: only policies have it");
  if (kind !== "quota" && bytes !== undefined) fail(".bytes: only quotas have it");
  if (kind !== "robot" && (role !== undefined || endTime !== undefined)) fail(": only robots have a role and an end");
  if (kind === "robot") {
    const known = ROLES.find((each) => each === role);
    if (known === undefined) return fail(`.role: must be one of ${ROLES.join(", ")}`);
    if (endTime !== undefined && (typeof endTime !== "string" || !isTime(endTime)))
      return fail(".endTime: must be a time");
    return { ...item, role: known, ...(endTime !== undefined && { endTime }) };
  }
  if (kind === "policy") {
    if (typeof immutable !== "string" || immutable === "" || immutable.length > MAX_PATTERN)
      return fail(`.immutable: must be an expression of at most ${MAX_PATTERN} characters`);
    return { ...item, immutable };
  }
  if (kind === "quota") {
    if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes <= 0)
      return fail(".bytes: must be a whole number from 1");
    return { ...item, bytes };
  }
  if (kind !== "tag") {
    if (digest !== undefined || moves !== undefined) fail(": only tags have a digest and moves");
    return item;
  }
  if (!isDigest(digest) && digest !== "") return fail(".digest: must be a digest, as sha256:<64 hexadecimal digits>");
  return { ...item, digest, ...(moves !== undefined && { moves: movesOf(moves, fail) }) };
}

/** Nothing comes from a name that is none there, and nothing goes beside the group. */
function requirePlaces({ kind, source, target }: PlanItem, into: string, fail: Fail): void {
  const [from, to] = [source, target].map((text) => (kind === "tag" ? text.slice(0, text.lastIndexOf(":")) : text));
  const fault = BY_SOURCE.includes(kind) ? undefined : faultOfName(from ?? "");
  if (fault !== undefined) fail(`.source: ${fault}`);
  if (!(to ?? "").startsWith(`${into}/`)) fail(`.target: is not below ${into}`);
  const below = faultOfName((to ?? "").slice(into.length + 1));
  if (below !== undefined) fail(`.target: ${below}`);
  if (kind !== "tag") return;
  const [there, here] = [source, target].map((text) => text.slice(text.lastIndexOf(":") + 1));
  if (!isTag(there)) fail(".source: must end in a tag");
  if (here !== there) fail(".target: must have the tag of the source");
}

function movesOf(value: unknown, fail: Fail): PlanMove[] {
  if (!isList(value) || value.length > MAX_MOVES) return fail(`.moves: must be a list of at most ${MAX_MOVES}`);
  let lastMs = 0;
  return value.map((each, at) => {
    const { digest, time } = isObject(each) ? each : {};
    if (digest !== "" && !isDigest(digest)) return fail(`.moves[${at}].digest: must be a digest, or empty`);
    const timeMs = typeof time === "string" && isTime(time) ? Date.parse(time) : Number.NaN;
    if (Number.isNaN(timeMs)) return fail(`.moves[${at}].time: must be a time, as 2026-01-31T12:00:00.000Z`);
    if (timeMs <= lastMs) return fail(`.moves[${at}].time: must be after the move before it, and after 1970`);
    lastMs = timeMs;
    return { digest, time: time as string };
  });
}

/** What is wrong between items: the repo of a tag that is not there, two of one target. */
function faultBetween(items: readonly PlanItem[]): string | undefined {
  const repos = new Map<string, string>();
  const targets = new Set<string>();
  for (const [at, { kind, source, target, action }] of items.entries()) {
    if (action === "cannot" || BY_SOURCE.includes(kind)) continue;
    // A group and a repo may share a name.
    if (targets.has(`${kind} ${target}`)) return `items[${at}].target: ${target} is there twice`;
    targets.add(`${kind} ${target}`);
    if (kind === "repo") repos.set(source, target);
  }
  for (const [at, { kind, source, target, action }] of items.entries()) {
    if (kind !== "tag" || action === "cannot") continue;
    const cut = source.lastIndexOf(":");
    if (repos.get(source.slice(0, cut)) !== target.slice(0, target.lastIndexOf(":")))
      return `items[${at}]: is a tag of no repo of the plan`;
  }
  return undefined;
}
