// A plan: what would come from a registry, and as what.
import type { JsonObject } from "../api/rest.ts";
import { UsageFailure } from "../command/failure.ts";
import type { EcosystemHere } from "./artifacts-here.ts";
import { type MemberRole, POLICY_KINDS, type Settings } from "./model.ts";
import type { RetentionRule } from "./retention.ts";

const RIGHTS_AND_RULES = ["robot", "binding", "invite", "mapping", "public", ...POLICY_KINDS] as const;
/** Kinds of which nothing can come: they are in a plan so that somebody knows of them. */
export const NEVER_COME: readonly ItemKind[] = ["webhook", "setting"];
/** What plans of packages have, and no others. */
const PACKAGE_KINDS = ["package", "version", "project", "file", "maven-artifact", "maven-file", "upstream"] as const;
/** What an item makes here. */
export const ITEM_KINDS = ["group", "repo", "tag", "tag-end", ...RIGHTS_AND_RULES, ...PACKAGE_KINDS] as const;
export type ItemKind = (typeof ITEM_KINDS)[number];
/** Kinds whose items are known by what they are there: several of them may have one place here. */
export const KNOWN_BY_SOURCE: readonly ItemKind[] = [...RIGHTS_AND_RULES, "upstream"];
/** What is to be done: make it, change it, nothing since it is so, nothing since it cannot be. */
export const ACTIONS = ["create", "update", "same", "cannot"] as const;
export type Action = (typeof ACTIONS)[number];

/** A move of a tag, with its time in ISO 8601. An empty digest: it was deleted. */
export interface PlanMove {
  digest: string;
  time: string;
}

/** One thing that is to come. */
export interface PlanItem {
  kind: ItemKind;
  /** What it is there: `team`, `team/app`, `team/app:1.0`. */
  source: string;
  /** Its path here. */
  target: string;
  action: Action;
  /** Why, for people; never empty where the action is `cannot`. */
  why: string;
  /** Of a tag: what it points to there; empty when it was deleted. */
  digest?: string;
  /** Of a robot: the built-in role that its token has; of a binding, an invite or a mapping the one that it gives. */
  role?: MemberRole;
  /** Of a robot: whether it is for an image alone, and its target that image. */
  isImage?: boolean;
  /** Of a robot, and of the end of a tag: when it ends there, in ISO 8601. */
  endTime?: string;
  /** Of a binding: the uid of who is here already; of what becomes public that of everybody. */
  identity?: string;
  /** Of an invite: the only address that may accept it. */
  email?: string;
  /** Of a mapping: the uid of the identity provider here. */
  provider?: string;
  /** Of a mapping: the group as the provider's tokens name it. */
  externalGroup?: string;
  /** Of a policy: which tags never point to anything else, in RE2. */
  immutable?: string;
  /** Of retention: the rules of the image. */
  rules?: RetentionRule[];
  /** Of a quota: its limit. */
  bytes?: number;
  /** Of a gate, a registry upstream or a replication: its fields here. */
  settings?: Settings;
  /** Of a tag: its labels there, which become bundles. */
  bundles?: readonly string[];
  /** Of a tag: since when, where the registry says so. */
  moves?: PlanMove[];
  /** Of a package: its tags with their versions. */
  tags?: Record<string, string>;
  /** Of a version and a file, also of Maven: the sum of its bytes, as `sha512-…`. */
  sum?: string;
  /** Of a version and a file, also of Maven: when it was published, in ISO 8601, where the registry says so. */
  time?: string;
  /** Of a file: its version. */
  version?: string;
  /** Of a file whose version is yanked: why, which may be empty. */
  yanked?: string;
  /** Of an upstream: of which libraries; of Python when it does not say so. */
  ecosystem?: EcosystemHere;
  /** Of an upstream: what it asks. */
  url?: string;
  /** Of an upstream: whether it asks nobody until somebody has looked at it. */
  disabled?: boolean;
  /** Of an upstream: names that it is never asked for. */
  reserved?: string[];
}

/** How much content there is; each counted once. */
interface PlanContent {
  count: number;
  bytes: number;
  /** Whether there is more than was counted. */
  atLeast: boolean;
}

/** A whole plan, as its file has it. */
export interface Plan {
  /** Names the form of the file. */
  plan: typeof FORM;
  kind: string;
  /** Scheme, host and port of the registry. */
  address: string;
  /** The path of the group. */
  into: string;
  /** When it was made, in ISO 8601. */
  time: string;
  /** Whether the registry says when its tags moved. */
  history: boolean;
  /** What else the registry has, which was not read. */
  leavesBehind: string;
  content: PlanContent;
  items: PlanItem[];
}

export const FORM = "moorage.move-in/1";
/** The most items of a plan: more come in parts, by `--names`. */
export const MAX_ITEMS = 1_000_000;
/** The most names that an upstream here reserves. */
export const MAX_RESERVED = 200;

// Source: OCI distribution specification 1.1, "Pulling manifests".
const COMPONENT = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const MAX_COMPONENT = 255;
/** The most bundles of a tag, and characters of one. */
export const MAX_BUNDLES = 256;
export const MAX_BUNDLE = 128;
const MAX_GROUP = 63;
const MAX_PATH = 255;

/** Why the name of a repository there is no path here; undefined when it is one. */
export function faultOfName(name: string): string | undefined {
  if (name === "") return "has no name";
  if (name.length > MAX_PATH) return `its name is longer than ${MAX_PATH} characters`;
  const parts = name.split("/");
  const wrong = parts.find((part) => part.length > MAX_COMPONENT || !COMPONENT.test(part));
  if (wrong !== undefined) return `"${wrong}" cannot be the name of an image or a group here`;
  const long = parts.slice(0, -1).find((part) => part.length > MAX_GROUP);
  return long === undefined ? undefined : `"${long}" is longer than the ${MAX_GROUP} characters of a group's name`;
}

/** Why the name of a project there cannot be that of a group here; undefined when it can. */
export function faultOfGroup(name: string): string | undefined {
  return faultOfName(`${name}/image`);
}

/** Whether an item is of packages. */
export function isOfPackages({ kind }: Pick<PlanItem, "kind">): boolean {
  return PACKAGE_KINDS.some((each) => each === kind);
}

/** Throws a UsageFailure for a plan with items of other kinds. */
export function requireKinds({ kind, items }: Plan, kinds: readonly ItemKind[]): void {
  const other = items.find((item) => !kinds.includes(item.kind));
  if (other !== undefined) throw new UsageFailure(`a plan of ${kind} has no items of the kind ${other.kind}`);
}

/** The groups above an image of this path, below the group that everything goes into; outermost first. */
export function groupsAbove(name: string): string[] {
  const parts = name.split("/").slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
}

/** How many items there are of each kind with each action. */
export function countsOf(items: readonly PlanItem[]): JsonObject[] {
  return ITEM_KINDS.map((kind) => {
    const of = items.filter((item) => item.kind === kind);
    const counts = ACTIONS.map((action) => [action, of.filter((item) => item.action === action).length]);
    return { kind, ...(Object.fromEntries(counts) as JsonObject) };
  });
}
