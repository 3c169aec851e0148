// Makes a plan: reads the registry and what is here, and changes nothing.
import { textIn, textsIn } from "../api/json-fields.ts";
import type { JsonObject, RestClient } from "../api/rest.ts";
import { Failure } from "../command/failure.ts";
import { imageAt } from "./address.ts";
import type { ContentSizes } from "./content-sizes.ts";
import { endItems } from "./apply-ends.ts";
import { lackingBundles } from "./apply-labels.ts";
import { isRobotHere } from "./apply-robots.ts";
import { digestsOfTags, type Here, lastReason, type RepoHere, tagRowsHere } from "./here.ts";
import type { Source, SourceMove, SourcePolicy, SourceTag } from "./model.ts";
import { inParallel } from "./parallel.ts";
import { MAX_WHY } from "./plan-item.ts";
import { memberItems } from "./plan-members.ts";
import {
  type Action,
  faultOfGroup,
  faultOfName,
  FORM,
  groupsAbove,
  MAX_ITEMS,
  type Plan,
  type PlanItem,
} from "./plan.ts";
import { openRulesHere } from "./policies-here.ts";
import { isOfOne } from "./source-error.ts";

const ACTION_OF = { absent: "create", same: "same", other: "update" } as const;
const WITH_SECRETS = "with --secrets, by a new password";
const WITH_POLICIES = ["with --policies"];

/** What a plan is made of. */
export interface Planning {
  kind: string;
  address: string;
  into: string;
  source: Source;
  sizes: ContentSizes;
  rest: RestClient;
  here: Here;
  /** The issuer of the people there, where it is known. */
  issuer: string | undefined;
  /** Is shown how far it is. */
  note(done: number, total: number): void;
}

/** Reads the source whole. Throws a Failure when it does not answer, or has more than one plan can hold. */
export async function makePlan(planning: Planning): Promise<Plan> {
  const names = new Map<string, string | undefined>();
  for await (const { name, fault } of planning.source.repos()) {
    names.set(name, faultOfName(name) ?? fault);
    requireFew(names.size);
  }
  const sorted = [...names].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const groups = new Set(sorted.flatMap(([name, fault]) => (fault === undefined ? groupsAbove(name) : [])));
  const items: PlanItem[] = [];
  for (const name of planning.source.groups?.() ?? []) {
    const fault = faultOfGroup(name);
    if (fault === undefined) groups.add(name);
    else items.push({ kind: "group", source: name, target: "", action: "cannot", why: fault });
  }
  items.push(...[...groups].toSorted().map((group) => groupItem(planning, group)));
  let done = 0;
  for (const [name, fault] of sorted) {
    if (fault !== undefined) items.push({ kind: "repo", source: name, target: "", action: "cannot", why: fault });
    else items.push(...(await repoItems(planning, name)));
    requireFew(items.length);
    planning.note((done += 1), sorted.length);
  }
  const come = sorted.filter(([, fault]) => fault === undefined).map(([name]) => name);
  for (const more of [robotItems(planning, come), memberItems(planning, come), policyItems(planning, come)])
    for await (const item of more) {
      items.push(item);
      requireFew(items.length);
    }
  const { kind, address, into, source, sizes } = planning;
  return {
    plan: FORM,
    kind,
    address,
    into,
    time: new Date().toISOString(),
    history: source.hasHistory,
    leavesBehind: source.leavesBehind,
    content: { count: sizes.count(), bytes: sizes.bytes(), atLeast: sizes.isAtLeast() },
    items,
  };
}

/** The machines there, as what they would be here. */
async function* robotItems({ source, into, rest, here }: Planning, repos: readonly string[]): AsyncGenerator<PlanItem> {
  for await (const { source: name, below, isImage, role, endMs, fault } of source.robots?.(repos) ?? []) {
    const item = { kind: "robot" as const, source: name, target: `${into}/${below}` };
    if (fault !== undefined || role === undefined)
      yield { ...item, target: "", action: "cannot", why: fault ?? "may do nothing here" };
    else {
      const end = endMs === undefined ? {} : { endTime: new Date(endMs).toISOString() };
      const image = isImage === true ? { isImage } : {};
      const planned: PlanItem = { ...item, action: "create", why: WITH_SECRETS, role, ...image, ...end };
      yield (await isRobotHere(rest, here, planned)) ? { ...planned, action: "same", why: "" } : planned;
    }
  }
}

/** The rules there, as what they would be here. What differs here stays, which its item says. */
async function* policyItems(
  { source, into, rest, here }: Planning,
  repos: readonly string[],
): AsyncGenerator<PlanItem> {
  const ruleHere = openRulesHere(rest, here, { keeps: true });
  for await (const policy of source.policies?.(repos) ?? []) {
    const { kind, source: name, below, fault, notes = [] } = policy;
    const item = { kind, source: name, target: `${into}/${below}` };
    if (fault !== undefined) {
      yield { ...item, target: "", action: "cannot", why: fault.slice(0, MAX_WHY) };
      continue;
    }
    const planned: PlanItem = { ...item, action: "create", why: "", ...fieldsOf(policy) };
    const found = await ruleHere(planned);
    const why = found.state === "other" ? [`${found.why}, which stays`] : found.state === "same" ? [] : WITH_POLICIES;
    yield { ...planned, action: ACTION_OF[found.state], why: [...why, ...notes].join("; ").slice(0, MAX_WHY) };
  }
}

function fieldsOf({ immutable, rules, bytes, settings }: SourcePolicy): Partial<PlanItem> {
  return {
    ...(rules !== undefined && { rules }),
    ...(immutable !== undefined && { immutable }),
    ...(bytes !== undefined && { bytes }),
    ...(settings !== undefined && { settings }),
  };
}

function requireFew(count: number): void {
  if (count > MAX_ITEMS) throw new Failure(`there is more than one plan holds (${MAX_ITEMS} items): use --names`);
}

function groupItem({ into, here }: Planning, source: string): PlanItem {
  const target = `${into}/${source}`;
  return { kind: "group", source, target, action: here.groups.has(target) ? "same" : "create", why: "" };
}

/** The repo and its tags; the repo alone when its tags cannot be listed. */
async function repoItems(planning: Planning, name: string): Promise<PlanItem[]> {
  const { address, into, here, source, rest } = planning;
  const target = `${into}/${name}`;
  const item = (action: Action, why = ""): PlanItem => ({ kind: "repo", source: name, target, action, why });
  const repo = here.repos.get(target);
  const other = otherSource(repo, imageAt(address, name));
  if (other !== undefined) return [item("cannot", `follows ${other} already`)];
  const rows = repo === undefined ? new Map<string, JsonObject>() : await tagRowsHere(rest, repo.uid);
  const known = digestsOfTags(rows);
  const tags: PlanItem[] = [];
  const seen = new Set<string>();
  try {
    for await (const each of inParallel(source.tags(name), (tag) => sized(planning, name, tag))) {
      const tag = once(seen, each);
      const item = await tagItem({ rest, repo, name, target, known, rows }, tag);
      tags.push(item, ...endItems(item, tag, rows));
    }
  } catch (error) {
    if (!isOfOne(error)) throw error;
    return [item("cannot", error.message)];
  }
  const isSame = repo !== undefined && tags.every(({ action }) => action === "same" || action === "cannot");
  tags.sort((one, other) => (one.source < other.source ? -1 : 1));
  return [item(repo === undefined ? "create" : isSame ? "same" : "update"), ...tags];
}

/** The tag; one that was there before cannot come again. */
function once(seen: Set<string>, tag: SourceTag): SourceTag {
  if (seen.has(tag.name) && tag.fault === undefined) return { ...tag, fault: "is listed twice by the source" };
  seen.add(tag.name);
  return tag;
}

function otherSource(repo: RepoHere | undefined, own: string): string | undefined {
  const follows = textIn(repo?.sync, "source");
  return follows === "" || follows === own ? undefined : follows;
}

/** Counts the tag's content; a tag whose manifest cannot be read cannot come. */
async function sized({ sizes }: Planning, repo: string, tag: SourceTag): Promise<SourceTag> {
  if (tag.fault !== undefined || tag.digest === "") return tag;
  try {
    await sizes.add(repo, tag.digest);
    return tag;
  } catch (error) {
    if (!isOfOne(error)) throw error;
    return { ...tag, fault: error.message };
  }
}

/** The repo whose tags are planned. */
interface PlannedRepo {
  rest: RestClient;
  repo: RepoHere | undefined;
  name: string;
  target: string;
  known: ReadonlyMap<string, string>;
  rows: ReadonlyMap<string, JsonObject>;
}

async function tagItem(
  { rest, repo, name, target, known, rows }: PlannedRepo,
  { name: tag, digest, moves, fault, note = "", labels = [] }: SourceTag,
): Promise<PlanItem> {
  const item = { kind: "tag" as const, source: `${name}:${tag}`, target: `${target}:${tag}` };
  if (fault !== undefined) return { ...item, action: "cannot", why: fault };
  if (digest === "") {
    const isHere = repo !== undefined && (await lastReason(rest, repo.uid, tag)) !== "";
    const why = "deleted there: its history alone comes, with --history";
    return { ...item, action: isHere ? "same" : "create", why, digest, moves: planMoves(moves) };
  }
  const now = known.get(tag) ?? "";
  const lacking = now === digest ? lackingBundles(labels, textsIn(rows.get(tag), "bundles")) : [];
  const isSame = now === digest && lacking.length === 0;
  const action = isSame ? "same" : now === "" ? "create" : "update";
  const why = isSame || now === "" ? [] : [now === digest ? lacksText(lacking) : staysText(now)];
  return {
    ...item,
    action,
    why: [...why, ...(note === "" ? [] : [note])].join("; "),
    digest,
    ...(labels.length > 0 && { bundles: labels }),
    ...(moves.length > 0 && { moves: planMoves(moves) }),
  };
}

function staysText(now: string): string {
  return `points to ${now} here; stays so if it was moved here`;
}

function lacksText(lacking: readonly string[]): string {
  return `lacks ${lacking.length === 1 ? "a label" : `${lacking.length} labels`} here`;
}

/** The moves with times that increase: those at one time each a millisecond after the one before. */
function planMoves(moves: readonly SourceMove[]): { digest: string; time: string }[] {
  let lastMs = 0;
  return moves
    .toSorted((one, other) => one.timeMs - other.timeMs)
    .map(({ digest, timeMs }) => {
      lastMs = Math.max(timeMs, lastMs + 1);
      return { digest, time: new Date(lastMs).toISOString() };
    });
}
