import type { DescMethodUnary, JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Dice } from "../dice.ts";

/** A request by one version of the API. */
export type Request = readonly [method: DescMethodUnary, request: JsonObject];

/** The fields of a resource as v2 has them, without those that v1 lacks. */
export type Fields = JsonObject;

/** What random fields refer to: uids of an organization's resources. */
export interface Names {
  /** The uid of one of those of the kind that were ever made, or of another if there are none. */
  one(kind: KindName): string;
  dice: Dice;
}

export type KindName =
  | "group"
  | "role"
  | "identity"
  | "binding"
  | "provider"
  | "mapping"
  | "invite"
  | "association"
  | "repo"
  | "tag";

/** How a resource is made, replaced and deleted by each version. */
export interface Kind {
  /** Of what kind the resource is that it is below. */
  parent: KindName;
  /** Random fields: all that v1 can write. */
  fields(names: Names): Fields;
  v1: Calls;
  v2: Calls;
  /** Writes what only v2 can write, which v1 keeps. */
  byV2?(uid: string, fields: Fields, dice: Dice): Request;
}

/** What is replaced: below what it is, the name that it was made with, and whether it was deleted. */
interface Target {
  parent: string;
  name: string;
  isGone: boolean;
}

interface Calls {
  create(parent: string, fields: Fields): Request;
  /** Writes all fields that v1 has. Absent where v1 has no such method. */
  replace?(uid: string, fields: Fields, target: Target): Request;
  remove(uid: string): Request;
}

export const NAMES = ["ada", "bob", "eve"];
const TEXTS = ["", "one", "two"];

export const text = ({ dice }: Names): string => dice.pick(TEXTS);
// One in twenty is no name.
export const name = ({ dice }: Names): string => (dice.chance(0.05) ? "No name!" : dice.pick(NAMES));
export const some = <T extends JsonValue>({ dice }: Names, among: readonly T[]): T[] =>
  among.filter(() => dice.chance(0.5));

/** Fields of v1 from those of v2 by other names. */
export function renamed(fields: Fields, names: Record<string, string>): Fields {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [names[key] ?? key, value]));
}
