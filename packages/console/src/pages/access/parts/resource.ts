import type { ReactNode } from "react";
import type { Capability } from "../../../api/gen/iam.ts";
import type { Column } from "../../../ui/column.ts";
import type { ChoiceKind } from "./data.ts";

/** What was typed into a form: a text each, `true` or empty for yes and no, lines for lists. */
export type Values = Readonly<Record<string, string>>;

/** A field of a form. */
export interface FieldSpec {
  /** As the API names it, so that its errors find the field. */
  name: string;
  label: string;
  kind?: "text" | "lines" | "check" | "options" | "segments" | "capabilities" | ChoiceKind;
  /** In place of what its kind shows: a field of its own. */
  render?: (field: OwnField) => ReactNode;
  help?: string;
  /** Of a choice: what stands there while nothing is chosen. Defaults to “Choose…”. */
  none?: string;
  /** Of `options` and `segments`, which are all seen: value and label. */
  options?: readonly (readonly [value: string, label: string])[];
  initial?: string;
  /** Whether the field counts with what the others say. */
  when?: (values: Values) => boolean;
  isSecret?: boolean;
}

/** What a field gets that draws itself. */
export interface OwnField {
  value: string;
  onChange: (value: string) => void;
  /** What is wrong with it, as the server said. */
  error: string | undefined;
}

/** A form that does one thing. */
export interface FormSpec<Result = unknown> {
  title: string;
  /** The verb on its button. */
  action: string;
  description?: string;
  fields: readonly FieldSpec[];
  /** What stands below the fields: what would be done with what is typed. */
  preview?: (values: Values) => ReactNode;
  send: (values: Values) => Promise<Result>;
}

/** A page that lists resources of a group, and makes and deletes them. */
export interface ResourceSpec<Row> {
  title: string;
  /** One of them, in words: `identity`. */
  noun: string;
  intro: string;
  columns: readonly Column<Row>[];
  /** Whether rows have two lines. */
  isTall?: boolean;
  uidOf: (row: Row) => string;
  nameOf: (row: Row) => string;
  create: { capability: Capability; form: (group: string) => FormSpec; done?: (made: unknown) => void };
  edit?: { capability: Capability; form: (row: Row) => FormSpec };
  remove: {
    capability: Capability;
    send: (uid: string) => Promise<unknown>;
    verb?: string;
    effect: string;
    /** What stands in the way of it for this one, below the effect. */
    about?: (row: Row) => ReactNode;
  };
  /** Why this one can neither be changed nor deleted by anybody. */
  isFixed?: (row: Row) => string | undefined;
  /** The uid of the group whose rights count for the row; what is above it without one. */
  groupOf?: (row: Row) => string;
  /** Further actions of a row. */
  actions?: (row: Row) => { label: string; onSelect: () => void }[];
  empty: { title: string; text: string; command: string };
}
