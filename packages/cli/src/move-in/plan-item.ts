// An item of a plan's file, which is read like what a stranger wrote.
import { isList, isObject } from "@moorage/kernel/lib/json";
import { isVersion } from "@moorage/kernel/lib/versions";
import { isUid } from "../api/name-kinds.ts";
import { EVERYBODY, isDigest, isTag, MEMBER_ROLES, PUBLIC_ROLE, ROBOT_ROLES } from "./model.ts";
import {
  type Action,
  ACTIONS,
  faultOfName,
  ITEM_KINDS,
  isOfPackages,
  type ItemKind,
  MAX_BUNDLE,
  MAX_BUNDLES,
  NEVER_COME,
  KNOWN_BY_SOURCE,
  MAX_RESERVED,
  type PlanItem,
  type PlanMove,
} from "./plan.ts";
import { ECOSYSTEMS_HERE } from "./artifacts-here.ts";
import { faultOfArtifact, faultOfMavenPath, mavenItemOf } from "./maven-names.ts";
import { faultOfPackage, isNumber, packageOf, packagePlaceOf } from "./npm-names.ts";
import { faultOfFile, faultOfProject, projectPlaceOf, projectTarget } from "./python-names.ts";
import { settingsIn } from "./plan-settings.ts";
import { isSum } from "./sums.ts";
import { MAX_RULES, type RetentionRule } from "./retention.ts";

/** Says what is wrong with an item, after where it is. */
export type Fail = (what: string) => never;

const MAX_MOVES = 100_000;
const MAX_PATTERN = 2_048;
const MAX_EMAIL = 254;
const MAX_EXTERNAL_GROUP = 256;
const MAX_TAGS = 200;
const MAX_TAG = 128;
const MAX_REASON = 512;
export const MAX_WHY = 2_000;
const COMMON = ["kind", "source", "target", "action", "why"];
/** What else the items of a kind have. */
const FIELDS_OF: Readonly<Record<ItemKind, readonly string[]>> = {
  group: [],
  repo: [],
  tag: ["digest", "moves", "bundles"],
  "tag-end": ["digest", "endTime"],
  robot: ["role", "endTime", "isImage"],
  binding: ["role", "identity"],
  invite: ["role", "email"],
  mapping: ["role", "provider", "externalGroup"],
  public: ["role", "identity"],
  policy: ["immutable"],
  retention: ["rules"],
  gate: ["settings"],
  quota: ["bytes"],
  "registry-upstream": ["settings"],
  replication: ["settings"],
  webhook: [],
  setting: [],
  package: ["tags"],
  version: ["sum", "time"],
  project: [],
  file: ["sum", "time", "version", "yanked"],
  "maven-artifact": [],
  "maven-file": ["sum", "time"],
  upstream: ["ecosystem", "url", "disabled", "reserved"],
};
const FIELDS = new Set([...COMMON, ...Object.values(FIELDS_OF).flat()]);

/** Checks an item. `into`: the path of the group that all goes below. */
export function itemOf(value: unknown, into: string, fail: Fail): PlanItem {
  if (!isObject(value)) return fail(": must be an object");
  const { kind, source, target, action, why } = value;
  const other = Object.keys(value).find((name) => !FIELDS.has(name));
  if (other !== undefined) fail(`: unknown field "${other.slice(0, 100)}"`);
  const known = ITEM_KINDS.find((each) => each === kind);
  if (known === undefined) return fail(`.kind: must be one of ${ITEM_KINDS.join(", ")}`);
  if (!ACTIONS.includes(action as Action)) fail(`.action: must be one of ${ACTIONS.join(", ")}`);
  if (typeof source !== "string" || typeof target !== "string") return fail(": source and target must be texts");
  if (typeof why !== "string" || why.length > MAX_WHY)
    return fail(`.why: must be a text of at most ${MAX_WHY} characters`);
  const item = { kind: known, action: action as Action, source, target, why };
  if (action === "cannot") return item;
  if (NEVER_COME.includes(known)) fail(".action: must be cannot: it is made by hand");
  if (isOfProjects(item)) requireProject(item, into, fail);
  else if (isOfMaven(item)) requireMaven(item, into, fail);
  else if (isOfPackages(item)) requirePackage(item, into, fail);
  else requirePlaces(item, into, fail);
  const wrong = Object.keys(value).find((name) => !COMMON.includes(name) && !FIELDS_OF[known].includes(name));
  if (wrong !== undefined) fail(`.${wrong}: an item of the kind ${known} has none`);
  return { ...item, ...detailsOf(known, value, fail) };
}

function detailsOf(kind: ItemKind, value: Record<string, unknown>, fail: Fail): Partial<PlanItem> {
  const { digest, moves, bundles, immutable, bytes, endTime } = value;
  switch (kind) {
    case "tag":
      if (!isDigest(digest) && digest !== "")
        return fail(".digest: must be a digest, as sha256:<64 hexadecimal digits>");
      return {
        digest,
        ...(moves !== undefined && { moves: movesOf(moves, fail) }),
        ...(bundles !== undefined && { bundles: bundlesIn(bundles, fail) }),
      };
    case "tag-end":
      if (!isDigest(digest)) return fail(".digest: must be a digest, as sha256:<64 hexadecimal digits>");
      if (typeof endTime !== "string" || !isTime(endTime)) return fail(".endTime: must be a time");
      return { digest, endTime };
    case "robot":
      if (endTime !== undefined && (typeof endTime !== "string" || !isTime(endTime)))
        return fail(".endTime: must be a time");
      return {
        role: oneOf(ROBOT_ROLES, value, fail),
        ...(endTime !== undefined && { endTime }),
        ...(value["isImage"] === true && { isImage: true }),
      };
    case "binding":
      return { role: oneOf(MEMBER_ROLES, value, fail), identity: uidIn("identity", value, fail) };
    case "public":
      if (value["identity"] !== EVERYBODY) return fail(`.identity: must be ${EVERYBODY}`);
      return { role: oneOf([PUBLIC_ROLE] as const, value, fail), identity: EVERYBODY };
    case "invite":
      return { role: oneOf(MEMBER_ROLES, value, fail), email: textOf("email", MAX_EMAIL, value, fail) };
    case "mapping": {
      const externalGroup = textOf("externalGroup", MAX_EXTERNAL_GROUP, value, fail);
      return { role: oneOf(MEMBER_ROLES, value, fail), provider: uidIn("provider", value, fail), externalGroup };
    }
    case "policy":
      return { immutable: textOf("immutable", MAX_PATTERN, { immutable }, fail) };
    case "retention":
      return { rules: rulesOf(value["rules"], fail) };
    case "gate":
    case "registry-upstream":
    case "replication":
      return { settings: settingsIn(kind, value["settings"], fail) };
    case "quota":
      if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes <= 0)
        return fail(".bytes: must be a whole number from 1");
      return { bytes };
    case "package":
      return { tags: tagsIn(value["tags"], fail) };
    case "version":
    case "maven-file":
      return versionIn(value, fail);
    case "file":
      return fileIn(value, fail);
    case "upstream":
      return upstreamIn(value, fail);
    default:
      return {};
  }
}

function fileIn(value: Record<string, unknown>, fail: Fail): Partial<PlanItem> {
  const { version, yanked } = value;
  if (typeof version !== "string" || !isVersion("pypi", version)) return fail(".version: must be one of PEP 440");
  if (yanked !== undefined && (typeof yanked !== "string" || yanked.length > MAX_REASON))
    return fail(`.yanked: must be a text of at most ${MAX_REASON} characters`);
  return { ...versionIn(value, fail), version, ...(yanked !== undefined && { yanked }) };
}

/** The server checks what the URL leads to. */
function upstreamIn(value: Record<string, unknown>, fail: Fail): Partial<PlanItem> {
  const { disabled, reserved } = value;
  const ecosystem = ECOSYSTEMS_HERE.find((each) => each === (value["ecosystem"] ?? "ECOSYSTEM_PYTHON"));
  if (ecosystem === undefined) return fail(`.ecosystem: must be one of ${ECOSYSTEMS_HERE.join(", ")}`);
  if (typeof disabled !== "boolean") return fail(".disabled: must be true or false");
  const isNames = isList(reserved) && reserved.every((name) => typeof name === "string" && name.length <= MAX_TAG * 2);
  if (!isNames || reserved.length > MAX_RESERVED) return fail(`.reserved: must be at most ${MAX_RESERVED} names`);
  return { ecosystem, url: textOf("url", MAX_PATTERN, value, fail), disabled, reserved: reserved as string[] };
}

function bundlesIn(value: unknown, fail: Fail): string[] {
  const isBundle = (each: unknown): each is string =>
    typeof each === "string" && each !== "" && each.length <= MAX_BUNDLE;
  return isList(value) && value.length <= MAX_BUNDLES && value.every(isBundle)
    ? value
    : fail(`.bundles: must be at most ${MAX_BUNDLES} texts of at most ${MAX_BUNDLE} characters`);
}

function tagsIn(value: unknown, fail: Fail): Record<string, string> {
  const tags = isObject(value) ? Object.entries(value) : fail(".tags: must be an object");
  const wrong = tags.find(([tag, version]) => tag === "" || tag.length > MAX_TAG || typeof version !== "string");
  if (wrong !== undefined || tags.length > MAX_TAGS)
    fail(`.tags: must be at most ${MAX_TAGS} names, each of at most ${MAX_TAG} characters, with a version`);
  return Object.fromEntries(tags) as Record<string, string>;
}

function versionIn({ sum, time }: Record<string, unknown>, fail: Fail): Partial<PlanItem> {
  if (!isSum(sum)) return fail(".sum: must be a sum, as sha512-<base64>");
  if (time !== undefined && (typeof time !== "string" || !isTime(time))) return fail(".time: must be a time");
  return { sum, ...(time !== undefined && { time }) };
}

/** Of indexes that became groups. */
function isOfProjects({ kind }: Pick<PlanItem, "kind">): boolean {
  return kind === "project" || kind === "file" || kind === "upstream";
}

/** Projects and files keep their names, and nothing goes beside the group of their index. */
function requireProject(item: Pick<PlanItem, "kind" | "source" | "target">, into: string, fail: Fail): void {
  const { kind, source, target } = item;
  const place = kind === "upstream" ? { index: source, project: "", file: "" } : projectPlaceOf(item);
  const fault =
    faultOfName(`${place.index}/project`) ??
    (kind === "upstream" ? undefined : faultOfProject(place.project)) ??
    (kind === "file" ? faultOfFile(place.file) : undefined);
  if (fault !== undefined) fail(`.source: ${fault}`);
  const expected = projectTarget(into, place);
  if (target !== expected) fail(`.target: must be ${expected}`);
}

/** Of Maven. */
function isOfMaven({ kind }: Pick<PlanItem, "kind">): boolean {
  return kind === "maven-artifact" || kind === "maven-file";
}

/** Artifacts and files keep their names, and nothing goes beside the group of their repository. */
function requireMaven(item: Pick<PlanItem, "kind" | "source" | "target">, into: string, fail: Fail): void {
  const { kind, source, target } = item;
  const { index, rest } = mavenItemOf(item);
  const fault =
    faultOfName(`${index}/artifact`) ?? (kind === "maven-file" ? faultOfMavenPath(rest) : faultOfArtifact(rest));
  if (fault !== undefined) fail(`.source: ${fault}`);
  if (target !== `${into}/${source}`) fail(`.target: must be ${into}/${source}`);
}

/** Packages keep their names, and nothing goes beside the group, or that of their repository. */
function requirePackage(
  { kind, source, target }: Pick<PlanItem, "kind" | "source" | "target">,
  into: string,
  fail: Fail,
): void {
  const { index, name, version } =
    kind === "version" ? packageOf(source) : { ...packagePlaceOf(source), version: "1.0.0" };
  const isWrongPlace = index !== "" && faultOfName(`${index}/package`) !== undefined;
  const fault = isWrongPlace ? faultOfPackage(`${index}/${name}`) : faultOfPackage(name);
  if (fault !== undefined) fail(`.source: ${fault}`);
  if (!isNumber(version)) fail(".source: must end in the number of a version");
  if (target !== `${into}/${source}`) fail(`.target: must be ${into}/${source}`);
}

function oneOf<T extends string>(roles: readonly T[], { role }: Record<string, unknown>, fail: Fail): T {
  return roles.find((each) => each === role) ?? fail(`.role: must be one of ${roles.join(", ")}`);
}

function textOf(name: string, most: number, { [name]: value }: Record<string, unknown>, fail: Fail): string {
  return typeof value === "string" && value !== "" && value.length <= most
    ? value
    : fail(`.${name}: must be a text of at most ${most} characters`);
}

function uidIn(name: string, { [name]: value }: Record<string, unknown>, fail: Fail): string {
  return typeof value === "string" && isUid(value) ? value : fail(`.${name}: must be a uid`);
}

/** The server checks what the rules say; this checks that they are rules, and say nothing else. */
function rulesOf(value: unknown, fail: Fail): RetentionRule[] {
  if (!isList(value) || value.length === 0 || value.length > MAX_RULES)
    return fail(`.rules: must be a list of 1 to ${MAX_RULES}`);
  return value.map((each, at) => {
    const rule = isObject(each) ? each : fail(`.rules[${at}]: must be an object`);
    const wrong = Object.entries(rule).find(([name, field]) => !isRuleField(name, field));
    if (wrong !== undefined) fail(`.rules[${at}].${wrong[0].slice(0, 100)}: is not what rules have`);
    return { tagPattern: "", ...rule };
  });
}

function isRuleField(name: string, value: unknown): boolean {
  if (name === "tagPattern") return typeof value === "string" && value.length <= MAX_PATTERN;
  if (name === "keepFor" || name === "keepPulledFor") return typeof value === "string" && /^\d{1,10}s$/.test(value);
  return (name === "keepLast" || name === "keepLastPulled") && Number.isSafeInteger(value) && Number(value) > 0;
}

function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** Nothing comes from a name that is none there, and nothing goes beside the group. */
function requirePlaces(
  { kind, source, target }: Pick<PlanItem, "kind" | "source" | "target">,
  into: string,
  fail: Fail,
): void {
  const isOfTag = kind === "tag" || kind === "tag-end";
  const [from, to] = [source, target].map((text) => (isOfTag ? text.slice(0, text.lastIndexOf(":")) : text));
  const fault = KNOWN_BY_SOURCE.includes(kind) ? undefined : faultOfName(from ?? "");
  if (fault !== undefined) fail(`.source: ${fault}`);
  if (!(to ?? "").startsWith(`${into}/`)) fail(`.target: is not below ${into}`);
  const below = faultOfName((to ?? "").slice(into.length + 1));
  if (below !== undefined) fail(`.target: ${below}`);
  if (!isOfTag) return;
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
