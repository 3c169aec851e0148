// What a registry that moves in has, whatever its kind.
import type { RetentionRule } from "./retention.ts";

/** A repository there. */
export interface SourceRepo {
  name: string;
  /** Why it cannot come. */
  fault?: string;
}

/** When a tag came to point to a digest; empty: it was deleted. */
export interface SourceMove {
  digest: string;
  timeMs: number;
}

/** A tag there, or why nothing can be said of it. */
export interface SourceTag {
  name: string;
  /** Empty when only its past is known, or nothing is. */
  digest: string;
  /** From the oldest on; none where the registry does not say when its tags moved. */
  moves: SourceMove[];
  /** Why it cannot come. */
  fault?: string;
  /** What of it does not come. */
  note?: string;
  /** Its labels. */
  labels?: readonly string[];
  /** When it is to end there; later than now. */
  endMs?: number;
  /** Why nothing can be said of its end there. */
  endFault?: string;
}

/** The fields of a resource here, by their names in its API. */
export type Settings = Readonly<Record<string, string | number | boolean>>;

/** The kinds of rules; webhooks and other settings only ever as what cannot come. */
export const POLICY_KINDS = [
  "policy",
  "retention",
  "gate",
  "quota",
  "registry-upstream",
  "replication",
  "webhook",
  "setting",
] as const;

/** A rule there, as what it would be here. */
export interface SourcePolicy {
  kind: (typeof POLICY_KINDS)[number];
  /** What it is there, for people. */
  source: string;
  /** The repository that it is for, of what is for all of a project the project. */
  below: string;
  /** Of a policy: an expression of RE2 for tags that never point to anything else. */
  immutable?: string;
  /** Of rules of retention: those here, and in words where they keep more. */
  rules?: RetentionRule[];
  notes?: readonly string[];
  /** Of a quota. */
  bytes?: number;
  /** Of a gate, a registry upstream or a replication. */
  settings?: Settings;
  /** Why it cannot come. */
  fault?: string;
}

/** The built-in roles here that machines may get. */
export const ROBOT_ROLES = ["registry.pull", "registry.push"] as const;
/** Those that people and their groups may get. */
export const MEMBER_ROLES = ["owner", "editor", "viewer", "registry.push", "registry.pull"] as const;
/** What everybody gets of what is public. */
export const PUBLIC_ROLE = "registry.pull" satisfies (typeof MEMBER_ROLES)[number];
/** The uid here of whoever comes, also without a log-in. */
export const EVERYBODY = "everybody";
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** A machine that may do something there. */
export interface SourceRobot {
  source: string;
  /** The group that it is for, or the image. */
  below: string;
  /** Whether it is for an image alone. */
  isImage?: boolean;
  /** The built-in role here. */
  role?: (typeof ROBOT_ROLES)[number];
  /** When it ends there. */
  endMs?: number;
  /** Why it cannot come. */
  fault?: string;
}

/** A person, or a group of people, that may do something there. */
export interface SourceMember {
  kind: "person" | "group" | "everybody";
  source: string;
  /** The group that it is for. */
  below: string;
  /** The built-in roles here that together are its role there. */
  roles: readonly MemberRole[];
  /** Of a person: by what its provider's tokens name it. */
  subject?: { issuer: string; subject: string };
  /** Of a person. */
  email?: string;
  /** Of a group: what the tokens of a provider call it. */
  externalGroup?: string;
  /** Why it cannot come. */
  fault?: string;
}

/** Everybody, of what is public there. */
export function publicMember(source: string, below: string): SourceMember {
  return { kind: "everybody", source, below, roles: [PUBLIC_ROLE] };
}

/** A registry that moves in, read through its API. Everything throws a SourceError. */
export interface Source {
  /** Whether it says when its tags moved. */
  hasHistory: boolean;
  /** What else the registry has, which is not read. */
  leavesBehind: string;
  repos(): AsyncGenerator<SourceRepo>;
  tags(repo: string): AsyncGenerator<SourceTag>;
  /** Its projects that come even without repositories; known when the repositories were read. */
  groups?(): readonly string[];
  /** Its rules, for these repositories. */
  policies?(repos: readonly string[]): AsyncGenerator<SourcePolicy>;
  /** Its machines, for the projects of these repositories. */
  robots?(repos: readonly string[]): AsyncGenerator<SourceRobot>;
  /** Its people and their groups, for the projects of these repositories. */
  members?(repos: readonly string[]): AsyncGenerator<SourceMember>;
}

const DIGEST = /^(?:sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128})$/;
const MAX_ADDRESS = 254;
const ADDRESS = /^[^\s@\p{C}]+@[^\s@\p{C}]+$/u;
const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;

/** An e-mail address that an invite can be for; undefined for everything else. */
export function addressIn(value: unknown): string | undefined {
  return typeof value === "string" && value.length <= MAX_ADDRESS && ADDRESS.test(value) ? value : undefined;
}

/** Whether the text is a digest that a registry here can hold. */
export function isDigest(text: unknown): text is string {
  return typeof text === "string" && DIGEST.test(text);
}

/** Whether the text can be a tag. */
export function isTag(text: unknown): text is string {
  return typeof text === "string" && TAG.test(text);
}
